import type { IExecuteFunctions } from 'n8n-workflow';
import { cancelSignal, stopped } from '../../shared/n8n/cancel';
import { clock } from '../../shared/n8n/connect';
import { toFault } from '../../shared/n8n/transport';
import { SECRET_HEADER, watchBody, type WatchRequest } from '../../shared/chat/chatWatch';
import { backoffMs, pause } from '../../shared/clock';
import { ExplainedError, InvalidInput, NotSent } from '../../shared/api/errors';
import { TransportFault } from '../../shared/api/http';
import { ATTEMPTS, RETRY_BACKOFF } from '../../shared/api/retry';
import { isJsonObject, type JsonObject } from '../../shared/json';

/** The trigger, or the n8n in front of it, said no. */
class WatchRefused extends ExplainedError {
	override readonly name = 'WatchRefused';
	readonly outcome = 'refused';
}

type TriggerAnswer = { status: number; body: unknown };

/** Watching twice is watching once, so a request whose fate is unknown is simply sent again. */
export async function postToTrigger(
	context: IExecuteFunctions,
	url: string,
	secret: string,
	request: WatchRequest,
): Promise<JsonObject> {
	const signal = cancelSignal(context);
	for (let attempt = 1; ; attempt++) {
		const result = await post(context, url, secret, request).catch(toFault);
		const isLast = attempt >= ATTEMPTS;
		if (result instanceof TransportFault) {
			if (isLast) throw unreachable(result);
		} else if (result.status < 500 || isLast) {
			return readTrigger(result);
		}
		if (!(await pause(clock, backoffMs(RETRY_BACKOFF, attempt), signal))) throw stopped(context);
	}
}

async function post(
	context: IExecuteFunctions,
	url: string,
	secret: string,
	request: WatchRequest,
): Promise<TriggerAnswer> {
	const response: unknown = await context.helpers.httpRequest({
		method: 'POST',
		url,
		body: watchBody(request),
		...(secret !== '' && { headers: { [SECRET_HEADER]: secret } }),
		json: true,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		timeout: 30_000,
	});
	const { statusCode, body } = isJsonObject(response) ? response : {};
	return { status: typeof statusCode === 'number' ? statusCode : 0, body };
}

function readTrigger({ status, body }: TriggerAnswer): JsonObject {
	if (status === 200 && isJsonObject(body) && Array.isArray(body.watched_sessions)) return body;
	const { message, resolution } = isJsonObject(body) ? body : {};
	if (typeof message === 'string' && typeof resolution === 'string') {
		throw new WatchRefused(message, resolution);
	}
	throw new WatchRefused(
		'No Chat Events Trigger answers at the Trigger Address',
		'Activate the workflow of the Chat Events Trigger with Watched Sessions on, and copy its production URL (not the test URL) to Trigger Address.',
		`HTTP status ${status}`,
	);
}

function unreachable({ code }: TransportFault): NotSent {
	return new NotSent(
		'The Trigger Address cannot be reached',
		'Check Trigger Address, and that this n8n may send requests to that address.',
		code,
	);
}

/** @throws InvalidInput unless it is a web address */
export function parseTriggerAddress(text: string): string {
	const protocol = URL.canParse(text) ? new URL(text).protocol : '';
	if (protocol === 'https:' || protocol === 'http:') return text;
	throw new InvalidInput(
		text === '' ? 'The Trigger Address is empty' : 'The Trigger Address is not a web address',
		'Open the Chat Events Trigger, turn on Watched Sessions and copy its production URL.',
	);
}
