import { request } from 'node:http';
import { text as readText } from 'node:stream/consumers';

/**
 * The status of the response, or `starting`: n8n responds with 200 and this text until its database is ready, and reads
 * nothing. Or what happened without a response: the sender disconnected, the connection broke, or nobody listened.
 */
export type DeliveryResult = number | 'starting' | 'disconnected' | 'broken' | 'not_connected';

const STARTING = 'n8n is starting up. Please wait';

/**
 * Posts JSON on its own connection, as a service delivers webhooks. Disconnects after `timeoutMs`, or with 0 as soon as
 * the last byte is sent.
 */
export async function deliver(
	url: string,
	body: object,
	timeoutMs: number,
): Promise<DeliveryResult> {
	const text = JSON.stringify(body);
	const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
	return await new Promise((resolve) => {
		const sending = request(url, { method: 'POST', agent: false, headers }, (response) => {
			readText(response).then(
				(answer) => resolve(answer === STARTING ? 'starting' : (response.statusCode ?? 'broken')),
				() => resolve('broken'),
			);
		});
		const disconnect = () => {
			resolve('disconnected');
			sending.destroy();
		};
		const timer = timeoutMs > 0 ? setTimeout(disconnect, timeoutMs) : undefined;
		sending.once('close', () => clearTimeout(timer));
		sending.once('error', (error) => {
			// Nobody listened, so nothing was received.
			resolve('code' in error && error.code === 'ECONNREFUSED' ? 'not_connected' : 'broken');
		});
		sending.end(text, () => {
			if (timeoutMs === 0 && sending.errored === null) disconnect();
		});
	});
}
