// Texture and surface objects.
__global__ void sample(float4 *out, cudaTextureObject_t t, cudaSurfaceObject_t s, cudaTextureObject_t layers) {
    int i = threadIdx.x;
    float4 v = tex2D<float4>(t, i + 0.5f, 1.f);
    v.x += tex1Dfetch<float>(t, i) + tex3D<float>(t, 1.f, 2.f, 3.f) + tex2DLod<float>(t, 1.f, 2.f, 3.f);
    v.y += tex2DLayered<float>(layers, 1.f, i, 3) + tex2Dgather<float4>(t, 1.f, 2.f, 1).z;
    surf2Dwrite(v, s, i * 16, 2);
    out[i] = surf2Dread<float4>(s, i * 16, 3);
}
