// Texture and surface objects.
__global__ void textures(cudaTextureObject_t t, cudaSurfaceObject_t s, float* out) {
    const float x = out[0], y = out[1], z = out[2];
    *out++ = tex1D<float>(t, x);
    *out++ = tex1Dfetch<float>(t, int(x));
    *out++ = tex2D<float>(t, x, y);
    *out++ = tex2D<uchar4>(t, x, y).x;
    *out++ = tex2D<float4>(t, x, y).y;
    *out++ = tex3D<float>(t, x, y, z);
    *out++ = tex2DLod<float>(t, x, y, z);
    *out++ = tex2DLayered<float>(t, x, y, 1);
    *out++ = surf2Dread<float>(s, 4, 3);
    surf2Dwrite(x, s, 4, 5);
}
