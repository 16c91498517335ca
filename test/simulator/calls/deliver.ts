import { delay } from '../clock';
import type { Dialect } from '../dialects';
import type { JsonObject } from '../json';
import type { Delivery } from '../state/types';

/** Posts once. Null without a response. */
async function post(url: string, body: JsonObject, dialect: Dialect): Promise<number | null> {
	const text = JSON.stringify(body);
	try {
		const response = await fetch(url, {
			method: 'POST',
			headers: dialect.webhook.headers(text),
			body: text,
			redirect: 'manual',
			signal: AbortSignal.timeout(10_000),
		});
		await response.arrayBuffer();
		return response.status;
	} catch {
		return null;
	}
}

/** Posts with the dialect's retries, and records each attempt. */
export async function deliver(
	url: string,
	body: JsonObject,
	dialect: Dialect,
	notes: Delivery[],
): Promise<Delivery> {
	for (let attempt = 1; ; attempt++) {
		const note: Delivery = { url, at: Date.now(), status: null, body };
		notes.push(note);
		note.status = await post(url, body, dialect);
		const received = note.status !== null && dialect.webhook.received(note.status);
		if (received || attempt >= dialect.webhook.attempts) return note;
		await delay(dialect.webhook.retryAfterMs);
	}
}
