import type { IExecuteFunctions } from 'n8n-workflow';

/** A body that is read while it arrives, as n8n's HTTP helper returns it. */
export type ByteStream = Exclude<
	Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0],
	Uint8Array
>;

/**
 * The first bytes of a body, or all of a shorter one. The rest stays in the stream.
 *
 * @param silenceMs how long nothing may arrive
 * @throws an error with Node's code, as the connection may break
 */
export async function firstBytes(
	content: ByteStream,
	most: number,
	silenceMs: number,
): Promise<Uint8Array> {
	return await new Promise((resolve, reject) => {
		let silence: AbortSignal | undefined;
		const listen = (): void => {
			silence?.removeEventListener('abort', timeOut);
			silence = AbortSignal.timeout(silenceMs);
			silence.addEventListener('abort', timeOut);
		};
		const stop = (): void => {
			silence?.removeEventListener('abort', timeOut);
			content.off('readable', look).off('end', none).off('error', fail).off('close', cut);
		};
		const give = (bytes: Uint8Array): void => {
			stop();
			resolve(bytes);
		};
		const fail = (error: Error): void => {
			stop();
			reject(error);
		};
		const none = (): void => give(Buffer.alloc(0));
		const cut = (): void => fail(new Error('Stream closed before completing'));
		const timeOut = (): void => fail(Object.assign(new Error(TIMED_OUT), { code: TIMED_OUT }));
		// Nothing is read until there is enough, or the body has ended.
		const look = (): void => {
			const bytes: unknown = content.read(most);
			if (bytes instanceof Uint8Array) give(bytes);
			else listen();
		};
		listen();
		content.on('readable', look).on('end', none).on('error', fail).on('close', cut);
	});
}

/** Node's code of a connection whose time is over. */
export const TIMED_OUT = 'ETIMEDOUT';

export function isByteStream(value: unknown): value is ByteStream {
	return typeof value === 'object' && value !== null && 'pipe' in value;
}
