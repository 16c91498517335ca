import attempt from 'lodash/attempt';
import isEmpty from 'lodash/isEmpty';
import partition from 'lodash/partition';
import type {
	IHookFunctions,
	INodeProperties,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { InvalidInput } from '../../core/service/errors';
import { type JsonObject, type JsonValue, parseJson } from '../../core/values/json';
import type { CallerRun } from '../caller/caller';
import type { Fields } from '../forms/fields';
import { formOf } from '../forms/nodeParameters';
import { toNodeError } from '../http/nodeErrors';
import { openTextList, type StoreUse } from '../claims/openTextList';

/**
 * The body of a request: JSON with any content type, the fields of a form or of XML, or else its text. Undefined if
 * it's empty or can't be read.
 */
export async function readBody(context: IWebhookFunctions): Promise<JsonValue | undefined> {
	const request = context.getRequestObject();
	// n8n has read it, unless it doesn't know the content type. Fails if that was a form with files, or if the sender is gone.
	await request.readRawBody().catch(() => undefined);
	const text = decoded(request.rawBody);
	// Not n8n's parsed JSON, because it rounds long numbers.
	const json = parseJson(text);
	if (json !== undefined) return json;
	return formIn(request.body) ?? (text.trim() === '' ? undefined : text);
}

/** Empty if n8n couldn't read it. */
function decoded(rawBody?: Buffer): string {
	return rawBody?.toString('utf8').replace(/^\uFEFF/, '') ?? '';
}

/** What n8n has read of a form or of XML. */
function formIn(body: unknown): JsonValue | undefined {
	if (typeof body !== 'object' || isEmpty(body)) return undefined;
	// What is nested too deeply can't be written again.
	const text = attempt(() => JSON.stringify(body));
	return typeof text === 'string' ? parseJson(text) : undefined;
}

/** Responds to the sender, and starts no execution. */
export function respond(
	context: IWebhookFunctions,
	status: number,
	body: JsonObject,
): IWebhookResponseData {
	context.getResponseObject().status(status).json(body);
	return { noWebhookResponse: true };
}

/** Tells the sender why the request starts nothing. */
export function reject(
	context: IWebhookFunctions,
	status: number,
	message: string,
): IWebhookResponseData {
	return respond(context, status, { received: false, message });
}

/**
 * For a webhook URL that is entered in the service or sent with a request, so nothing must be registered.
 *
 * @param readFields throws if the workflow must not be published, because of a field of the trigger
 */
export function nothingToRegister(
	properties: readonly INodeProperties[] = [],
	readFields: (form: Fields) => void = () => {},
) {
	const nothing = async () => await Promise.resolve(true);
	return {
		async checkExists(this: IHookFunctions): Promise<boolean> {
			try {
				readFields(formOf(this, properties));
				if (this.getNode().alwaysOutputData !== true) return true;
				throw new InvalidInput(
					"'Always Output Data' in the settings of this trigger must be off",
					'In n8n, turn it off. With it, an event that repeats can start the workflow with an empty item.',
				);
			} catch (error) {
				throw toNodeError(this.getNode(), error);
			}
		},
		create: nothing,
		delete: nothing,
	};
}

/** Two texts for each event. n8n reads and writes all of them for each execution. */
const MAX_TEXTS = 10_000;

const USE: StoreUse = {
	message: "n8n can't record that this event started the workflow, so it wasn't passed on",
	description:
		"Retry this execution. If that doesn't help, ask your n8n administrator to check n8n's database.",
};

/**
 * Records events in n8n's deduplication store, which n8n writes immediately. Runs in `execute()` of a trigger, as the
 * last step that can fail.
 *
 * A retry passes the events that its own execution has recorded, because a crash may have ended it right after that. It
 * doesn't pass those that another execution has recorded since. So each event is recorded with the start of its
 * execution, which n8n passes on to the retries.
 *
 * @returns the keys that no other execution has recorded. In a test in the editor all of them, and none is recorded.
 * @throws NotSent if n8n's database is unavailable
 */
export async function newEvents(
	run: CallerRun,
	keys: readonly string[],
): Promise<ReadonlySet<string>> {
	const { context } = run;
	const mode = context.getMode();
	if (mode === 'manual' || keys.length === 0) return new Set(keys);
	const store = openTextList(run, 'node', USE);
	const startedAt = context.getExecutionContext()?.establishedAt ?? context.getExecutionId();
	const ownText = (key: string) => JSON.stringify([key, startedAt]);
	const texts = keys.flatMap((key) => [key, ownText(key)]);
	const added = new Set(await store.add(texts, MAX_TEXTS));
	const isRetried = (key: string) => mode === 'retry' && !added.has(ownText(key));
	const [passed, ofOthers] = partition(keys, (key) => added.has(key) || isRetried(key));
	// A retry would treat them as its own.
	await store.remove(ofOthers.map(ownText).filter((text) => added.has(text)));
	return new Set(passed);
}
