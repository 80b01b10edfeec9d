// A texture over memory that the same kernel writes: a fetch may find the old value.
__global__ void through_texture(cudaTextureObject_t texture, float* data, float* out) {
    int i = threadIdx.x;
    data[i] = 2;
    __syncthreads();
    out[i] = tex1Dfetch<float>(texture, 63 - i);  // expect: racecheck/stale-read (other: -2)
}

int main() {
    float *data, *out, result[64];
    cudaMalloc(&data, sizeof result);
    cudaMalloc(&out, sizeof result);
    cudaMemset(data, 0, sizeof result);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = data;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = sizeof result;
    cudaTextureDesc how = {};
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    through_texture<<<1, 64>>>(texture, data, out);
    cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
    cudaDestroyTextureObject(texture);
    cudaFree(data);
    cudaFree(out);
    return result[5] == 2 ? 0 : 1;
}
