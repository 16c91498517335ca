import { ObservableObject, type IDataObject, type INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { makeWorkflow, nodeTypes, webhookContext } from '../../engine';
import type { triggerHarness } from './triggerHarness';

const SECRET = 'sesame';

export const WATCHING = { sessions: 'watched', watchSecret: SECRET };
const STORED = 'watchedSessions:trigger-node';

/** n8n's database. Each request reads the list from it and writes it back. */
const databaseShape = z.object({ global: z.record(z.array(z.unknown())).optional() });
type Database = z.infer<typeof databaseShape>;

const copy = <T>(data: T): T => structuredClone(data);

type Sent = {
	parameters?: INodeParameters;
	headers?: IDataObject;
	mode?: 'webhook' | 'manual';
	/** The body as bytes instead of JSON. */
	rawBody?: Buffer;
};

/** The watch URL of the trigger, and the sessions that n8n has stored. */
export function watchUrl(harness: ReturnType<typeof triggerHarness>) {
	let database: Database = {};
	let writes = 0;
	beforeEach(() => {
		database = {};
		writes = 0;
	});

	async function post(
		body: unknown,
		{
			parameters = WATCHING,
			headers = { 'x-watch-secret': SECRET },
			mode = 'webhook',
			rawBody,
		}: Sent = {},
	): Promise<{ statusCode: number; body: unknown }> {
		const node = await harness.node(parameters);
		const workflow = makeWorkflow([node]);
		workflow.id = 'workflow-of-trigger';
		// As n8n creates it from its database.
		workflow.staticData = ObservableObject.create(copy(database), undefined, {
			ignoreEmptyOnFirstChild: true,
		});
		const request = { body, headers, ...(rawBody && { rawBody }) };
		const { context, response } = webhookContext(
			harness.credentials,
			workflow,
			node,
			request,
			mode,
		);
		const result = await nodeTypes.getByNameAndVersion(node.type).webhook?.call(context);
		if (workflow.staticData.__dataChanged === true) {
			writes++;
			const { __dataChanged, ...data } = workflow.staticData;
			database = databaseShape.parse(JSON.parse(JSON.stringify(data)));
		}
		if (result?.noWebhookResponse === true) {
			const { statusCode, body: responseBody } = response;
			return { statusCode, body: responseBody };
		}
		return { statusCode: 200, body: result?.webhookResponse };
	}

	return {
		post,
		watch: async (...ids: string[]) => await post({ action: 'watch', session_ids: ids }),
		stored: () => database.global?.[STORED] ?? [],
		/** Writes to n8n's database. */
		writes: () => writes,
		database: () => copy(database),
		/** The stored data of n8n for these sessions. */
		storing: (ids: unknown[]): IDataObject => ({ global: { [STORED]: ids } }),
	};
}
