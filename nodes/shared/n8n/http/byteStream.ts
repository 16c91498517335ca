import type { IExecuteFunctions } from 'n8n-workflow';

/** A response body as a stream, as returned by n8n's HTTP helper. */
export type ByteStream = Exclude<
	Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0],
	Uint8Array
>;

/**
 * Reads the body until it has more than `max` bytes, or all of it. Then, the stream is closed.
 *
 * @throws an error with Node's code if the connection breaks
 */
export async function firstBytes(content: ByteStream, max: number): Promise<Buffer> {
	const chunks: Buffer[] = [];
	let length = 0;
	const parts: AsyncIterable<Uint8Array> = content;
	for await (const part of parts) {
		const bytes = Buffer.from(part);
		chunks.push(bytes);
		length += bytes.length;
		if (length > max) break;
	}
	return Buffer.concat(chunks);
}

/** Node's code of a connection that timed out. */
export const TIMED_OUT = 'ETIMEDOUT';

export function isByteStream(value: unknown): value is ByteStream {
	return typeof value === 'object' && value !== null && 'pipe' in value;
}
