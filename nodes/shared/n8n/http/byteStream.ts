import type { IExecuteFunctions } from 'n8n-workflow';

/** A response body as a stream, as returned by n8n's HTTP helper. */
export type ByteStream = Exclude<
	Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0],
	Uint8Array
>;

/**
 * Reads the first bytes of a body, or all of a shorter one. The rest stays in the stream.
 *
 * @param max number of bytes
 * @param silenceMs time limit without data
 * @throws an error with Node's code if the connection breaks
 */
export async function firstBytes(
	content: ByteStream,
	max: number,
	silenceMs: number,
): Promise<Uint8Array> {
	return await new Promise((resolve, reject) => {
		let silence: AbortSignal | undefined;
		const restartTimer = (): void => {
			silence?.removeEventListener('abort', timeOut);
			silence = AbortSignal.timeout(silenceMs);
			silence.addEventListener('abort', timeOut);
		};
		const stop = (): void => {
			silence?.removeEventListener('abort', timeOut);
			content
				.off('readable', readMax)
				.off('end', endEmpty)
				.off('error', fail)
				.off('close', failClosed);
		};
		const succeed = (bytes: Uint8Array): void => {
			stop();
			resolve(bytes);
		};
		const fail = (error: Error): void => {
			stop();
			reject(error);
		};
		const endEmpty = (): void => succeed(Buffer.alloc(0));
		const failClosed = (): void => fail(new Error('Stream closed before completing'));
		const timeOut = (): void => fail(Object.assign(new Error(TIMED_OUT), { code: TIMED_OUT }));
		// Reads nothing until enough bytes have arrived, or the body has ended.
		const readMax = (): void => {
			const bytes: unknown = content.read(max);
			if (bytes instanceof Uint8Array) succeed(bytes);
			else restartTimer();
		};
		restartTimer();
		content.on('readable', readMax).on('end', endEmpty).on('error', fail).on('close', failClosed);
	});
}

/** Node's code of a connection that timed out. */
export const TIMED_OUT = 'ETIMEDOUT';

export function isByteStream(value: unknown): value is ByteStream {
	return typeof value === 'object' && value !== null && 'pipe' in value;
}
