/*
 * What bindings based on JNI do: one call to post and one to poll, and, if they keep no memory of their own, one call
 * for each field.
 */
#include <infiniband/verbs.h>
#include <jni.h>

JNIEXPORT jint JNICALL Java_org_rdma4j_bench_loops_Jni_post(JNIEnv *env, jclass type, jlong qp, jlong wr)
{
	struct ibv_send_wr *bad;
	(void)env;
	(void)type;
	return ibv_post_send((struct ibv_qp *)qp, (struct ibv_send_wr *)wr, &bad);
}

JNIEXPORT jint JNICALL Java_org_rdma4j_bench_loops_Jni_poll(JNIEnv *env, jclass type, jlong cq, jint max, jlong wcs)
{
	(void)env;
	(void)type;
	return ibv_poll_cq((struct ibv_cq *)cq, max, (struct ibv_wc *)wcs);
}

JNIEXPORT void JNICALL Java_org_rdma4j_bench_loops_Jni_putLong(JNIEnv *env, jclass type, jlong address, jlong value)
{
	(void)env;
	(void)type;
	*(jlong *)address = value;
}

JNIEXPORT void JNICALL Java_org_rdma4j_bench_loops_Jni_putInt(JNIEnv *env, jclass type, jlong address, jint value)
{
	(void)env;
	(void)type;
	*(jint *)address = value;
}

JNIEXPORT jlong JNICALL Java_org_rdma4j_bench_loops_Jni_getLong(JNIEnv *env, jclass type, jlong address)
{
	(void)env;
	(void)type;
	return *(const jlong *)address;
}

JNIEXPORT jint JNICALL Java_org_rdma4j_bench_loops_Jni_getInt(JNIEnv *env, jclass type, jlong address)
{
	(void)env;
	(void)type;
	return *(const jint *)address;
}
