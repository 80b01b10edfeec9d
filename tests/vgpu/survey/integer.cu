// Integer intrinsics: bits, products, averages, dot products, the SIMD video instructions, 128-bit integers.
#define U1(name) *out++ = name(x);
#define U2(name) *out++ = name(x, y);
__global__ void bits(const unsigned* in, unsigned* out, const unsigned long long* in2, unsigned long long* out2) {
    const unsigned x = in[0], y = in[1], z = in[2];
    const int i = int(x), j = int(y);
    U1(__brev) U1(__clz) U1(__ffs) U1(__popc) U2(__mulhi) U2(__umulhi) U2(__mul24) U2(__umul24) U2(__hadd) U2(__rhadd)
    U2(__uhadd) U2(__urhadd)
    *out++ = __sad(i, j, z);
    *out++ = __usad(x, y, z);
    *out++ = __byte_perm(x, y, z);
    *out++ = __funnelshift_l(x, y, z);
    *out++ = __funnelshift_lc(x, y, z);
    *out++ = __funnelshift_r(x, y, z);
    *out++ = __funnelshift_rc(x, y, z);
    *out++ = __fns(x, y, i);
    *out++ = __dp4a(i, j, int(z));
    *out++ = __dp4a(x, y, z);
    *out++ = __dp2a_lo(i, j, int(z));
    *out++ = __dp2a_hi(x, y, z);
    *out++ = min(i, j) + max(x, y) + abs(i) + i / j + x / y + i % j + x % y + x / 7 + i / 10 + i % 10;
    *out++ = (i << (y & 31)) + (i >> y) + (x >> z) + (x & y | z ^ x);
    *out++ = __usad(x, y, z) + unsigned(short(x) * short(y)) + (unsigned short)(x) / (unsigned short)(y | 1);
    *out++ = unsigned(char(x) + char(y)) + (unsigned char)(x << 3) + __popcll(in2[0]);
    *out++ = __nv_bswap32(x);
    const unsigned long long a = in2[0], b = in2[1], c = in2[2];
    *out2++ = __brevll(a);
    *out2++ = __clzll(a) + __ffsll(b) + __popcll(c);
    *out2++ = __umul64hi(a, b);
    *out2++ = __mul64hi(a, b);
    *out2++ = a / b + (long long)a / (long long)c + a % b + (long long)a % (long long)c;
    *out2++ = min(a, b) + max((long long)a, (long long)b) + llabs((long long)c);
    *out2++ = (a << x) + (a >> y) + ((long long)a >> z);
    *out2++ = __nv_bswap64(a);
}

__global__ void video(const unsigned* in, unsigned* out) {
    const unsigned x = in[0], y = in[1], z = in[2];
    U1(__vabs2) U1(__vabs4) U1(__vabsss2) U1(__vabsss4) U1(__vneg2) U1(__vneg4) U1(__vnegss2) U1(__vnegss4)
    U2(__vadd2) U2(__vadd4) U2(__vaddss2) U2(__vaddss4) U2(__vaddus2) U2(__vaddus4) U2(__vsub2) U2(__vsub4)
    U2(__vsubss2) U2(__vsubss4) U2(__vsubus2) U2(__vsubus4) U2(__vavgs2) U2(__vavgs4) U2(__vavgu2) U2(__vavgu4)
    U2(__vhaddu2) U2(__vhaddu4) U2(__vabsdiffs2) U2(__vabsdiffs4) U2(__vabsdiffu2) U2(__vabsdiffu4)
    U2(__vmaxs2) U2(__vmaxs4) U2(__vmaxu2) U2(__vmaxu4) U2(__vmins2) U2(__vmins4) U2(__vminu2) U2(__vminu4)
    U2(__vcmpeq2) U2(__vcmpeq4) U2(__vcmpges2) U2(__vcmpges4) U2(__vcmpgeu2) U2(__vcmpgeu4) U2(__vcmpgts2)
    U2(__vcmpgts4) U2(__vcmpgtu2) U2(__vcmpgtu4) U2(__vcmples2) U2(__vcmpleu4) U2(__vcmplts2) U2(__vcmpltu4)
    U2(__vcmpne2) U2(__vcmpne4) U2(__vseteq2) U2(__vseteq4) U2(__vsetges2) U2(__vsetgeu4) U2(__vsetgts2)
    U2(__vsetgtu4) U2(__vsetles2) U2(__vsetleu4) U2(__vsetlts2) U2(__vsetltu4) U2(__vsetne2) U2(__vsetne4)
    U2(__vsads2) U2(__vsads4) U2(__vsadu2) U2(__vsadu4)
    *out++ = __viaddmax_s32(int(x), int(y), int(z));
    *out++ = __viaddmin_s32_relu(int(x), int(y), int(z));
    *out++ = __viaddmax_u16x2(x, y, z);
    *out++ = __viaddmin_s16x2_relu(x, y, z);
    *out++ = __vimax3_s32(int(x), int(y), int(z));
    *out++ = __vimin3_u16x2(x, y, z);
    *out++ = __vimax_s32_relu(int(x), int(y));
    *out++ = __vimax3_s16x2_relu(x, y, z);
    bool high, low;
    *out++ = __vibmax_s16x2(x, y, &high, &low) + high + 2 * low;
    *out++ = __vibmin_u32(x, y, &high) + high;
}

__global__ void wide(const __int128* in, unsigned __int128* out, bool* flags) {
    const __int128 a = in[0], b = in[1];
    const auto u = static_cast<unsigned __int128>(a), v = static_cast<unsigned __int128>(b);
    *out++ = u + v;
    *out++ = u - v;
    *out++ = u * v;
    *out++ = u / v;
    *out++ = u % v;
    *out++ = static_cast<unsigned __int128>(a / b);
    *out++ = static_cast<unsigned __int128>(a % b);
    *out++ = u << (int)v;
    *out++ = static_cast<unsigned __int128>(a >> (int)v);
    *flags++ = a < b;
    *flags++ = u >= v;
    *flags++ = a == b;
}

__global__ void inline_assembly(unsigned* out, unsigned long long* out2, float* f) {
    unsigned x = out[0], y = out[1], z = out[2], r;
    asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
    asm volatile("addc.u32 %0, %1, 0;" : "=r"(z) : "r"(z));
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(y) : "r"(x), "r"(y), "r"(z));
    asm("bfe.u32 %0, %1, 4, 8;" : "=r"(x) : "r"(x));
    asm("{ .reg .pred p; setp.gt.u32 p, %1, 7; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "r"(r));
    asm("mad24.lo.u32 %0, %1, %2, %3;" : "=r"(z) : "r"(x), "r"(y), "r"(z));
    asm("szext.wrap.s32 %0, %1, %2;" : "=r"(z) : "r"(z), "r"(y));
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(y) : "r"(x), "r"(r));
    unsigned long long c, t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(c));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    unsigned sm, w, nsm, n, g, d;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(w));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(nsm));
    asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(n));
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(g));
    asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(d));
    unsigned long long grid;
    asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
    unsigned lt, le, gt, ge, eq, lane;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
    asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    unsigned global, shared;
    asm volatile("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(global) : "l"(out));
    asm volatile("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(shared) : "l"(out));
    asm volatile("prefetch.global.L2 [%0];" ::"l"(out));
    asm volatile("prefetch.global.L1 [%0];" ::"l"(out));
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(out + 4096));
    asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(out + 4096));
    unsigned v0, v1, v2, v3;
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v0), "=r"(v1), "=r"(v2), "=r"(v3)
                 : "l"(out));
    asm volatile("ld.global.L1::evict_last.u32 %0, [%1];" : "=r"(v0) : "l"(out));
    asm volatile("st.global.L1::no_allocate.u32 [%0], %1;" ::"l"(out), "r"(v0));
    out[8] = r + sm + w + nsm + n + g + d + lt + le + gt + ge + eq + lane + global + shared + v1 + v2 + v3 + x + y + z;
    out2[0] = c + t + grid;
}
