import { request } from 'node:http';

/** The status of the answer, or what became of a request without one. */
export type Delivered = number | 'left' | 'broken' | 'rejected';

/**
 * Posts JSON on a connection of its own, as a service does that delivers webhooks, and hangs up when its patience is
 * over; with 0 as soon as the last byte is sent.
 */
export async function deliver(url: string, body: object, patienceMs: number): Promise<Delivered> {
	const text = JSON.stringify(body);
	const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
	return await new Promise((resolve) => {
		const sending = request(url, { method: 'POST', agent: false, headers }, (response) => {
			response.resume();
			response.once('end', () => resolve(response.statusCode ?? 'broken'));
			response.once('error', () => resolve('broken'));
		});
		const leave = () => {
			resolve('left');
			sending.destroy();
		};
		const timer = patienceMs > 0 ? setTimeout(leave, patienceMs) : undefined;
		sending.once('close', () => clearTimeout(timer));
		sending.once('error', (error) => {
			// Nobody listened, so that surely nothing was taken.
			resolve('code' in error && error.code === 'ECONNREFUSED' ? 'rejected' : 'broken');
		});
		sending.end(text, () => {
			if (patienceMs === 0 && sending.errored === null) leave();
		});
	});
}
