// Voxels of a lidar's points in the order of their first points, with a limit of points for each and of voxels: every
// point looks through those before it for its cell, one thread numbers the voxels, then points are copied.
#define CUDA_1D_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)

template <typename T, typename T_int>
__device__ void dynamic_voxelize(const T *points, T_int *coors, float voxel_x, float voxel_y, float voxel_z,
                                 float min_x, float min_y, float min_z, int grid_x, int grid_y, int grid_z,
                                 int num_points, int num_features) {
    CUDA_1D_KERNEL_LOOP(index, num_points) {
        auto points_offset = points + index * num_features;
        auto coors_offset = coors + index * 3;
        int c_x = floorf((points_offset[0] - min_x) / voxel_x);
        if (c_x < 0 || c_x >= grid_x) {
            coors_offset[0] = -1;
            continue;
        }
        int c_y = floorf((points_offset[1] - min_y) / voxel_y);
        if (c_y < 0 || c_y >= grid_y) {
            coors_offset[0] = -1;
            continue;
        }
        int c_z = floorf((points_offset[2] - min_z) / voxel_z);
        if (c_z < 0 || c_z >= grid_z) {
            coors_offset[0] = -1;
        } else {
            coors_offset[0] = c_z;
            coors_offset[1] = c_y;
            coors_offset[2] = c_x;
        }
    }
}

extern "C" __global__ void voxel_coors(const float *points, int *coors, float voxel_x, float voxel_y, float voxel_z,
                                       float min_x, float min_y, float min_z, int grid_x, int grid_y, int grid_z,
                                       int num_points, int num_features) {
    dynamic_voxelize<float, int>(points, coors, voxel_x, voxel_y, voxel_z, min_x, min_y, min_z, grid_x, grid_y, grid_z,
                                 num_points, num_features);
}

extern "C" __global__ void point_to_voxelidx(const int *coor, int *point_to_voxelidx, int *point_to_pointidx,
                                             int max_points, int num_points) {
    CUDA_1D_KERNEL_LOOP(index, num_points) {
        auto coor_offset = coor + index * 3;
        if (coor_offset[0] == -1)
            continue;
        int num = 0;
        int coor_x = coor_offset[0], coor_y = coor_offset[1], coor_z = coor_offset[2];
        for (int i = 0; i < index; ++i) {
            auto prev_coor = coor + i * 3;
            if (prev_coor[0] == -1)
                continue;
            if ((prev_coor[0] == coor_x) && (prev_coor[1] == coor_y) && (prev_coor[2] == coor_z)) {
                num++;
                if (num == 1) {
                    point_to_pointidx[index] = i;
                } else if (num >= max_points) {
                    break;
                }
            }
        }
        if (num == 0)
            point_to_pointidx[index] = index;
        if (num < max_points)
            point_to_voxelidx[index] = num;
    }
}

extern "C" __global__ void determin_voxel_num(int *num_points_per_voxel, const int *point_to_voxelidx,
                                              const int *point_to_pointidx, int *coor_to_voxelidx, int *voxel_num,
                                              int max_voxels, int num_points) {
    for (int i = 0; i < num_points; ++i) {
        int point_pos_in_voxel = point_to_voxelidx[i];
        coor_to_voxelidx[i] = -1;
        if (point_pos_in_voxel == -1) {
            continue;
        } else if (point_pos_in_voxel == 0) {
            int voxelidx = voxel_num[0];
            if (voxel_num[0] >= max_voxels)
                continue;
            voxel_num[0] += 1;
            coor_to_voxelidx[i] = voxelidx;
            num_points_per_voxel[voxelidx] = 1;
        } else {
            int point_idx = point_to_pointidx[i];
            int voxelidx = coor_to_voxelidx[point_idx];
            if (voxelidx != -1) {
                coor_to_voxelidx[i] = voxelidx;
                num_points_per_voxel[voxelidx] += 1;
            }
        }
    }
}

extern "C" __global__ void assign_points(int nthreads, const float *points, const int *point_to_voxelidx,
                                         const int *coor_to_voxelidx, const int *coor, float *voxels,
                                         int *voxel_coors, int max_points, int num_features) {
    CUDA_1D_KERNEL_LOOP(thread_idx, nthreads) {
        int index = thread_idx / num_features;
        int num = point_to_voxelidx[index];
        int voxelidx = coor_to_voxelidx[index];
        if (num > -1 && voxelidx > -1) {
            int k = thread_idx % num_features;
            voxels[voxelidx * max_points * num_features + num * num_features + k] = points[thread_idx];
            if (num == 0 && k < 3)
                voxel_coors[voxelidx * 3 + k] = coor[index * 3 + k];
        }
    }
}
