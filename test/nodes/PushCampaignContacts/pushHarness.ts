import sortBy from 'lodash/sortBy';
import type {
	INode,
	INodeExecutionData,
	IRun,
	IWorkflowSettings,
	NodeParameterValueType,
} from 'n8n-workflow';
import { isJsonObject, type JsonObject } from '../../../nodes/core/values/json';
import { plainText } from '../../../nodes/core/values/values';
import {
	engineHarness,
	hintsOf,
	output,
	runNode,
	service,
	harness,
	useNoWaits,
} from '../../engine';

export const PATH = '/v1/campaigns/42/contacts';

export type NodeParameters = { [name: string]: NodeParameterValueType };

export const rowsOf = (...rows: JsonObject[]): INodeExecutionData[] =>
	rows.map((json) => ({ json }));

export const phone = (index: number) => String(9_000_000_000 + index);
export const phones = (...rows: number[]) => rows.map(phone);

export const manyRows = (count: number): INodeExecutionData[] =>
	Array.from({ length: count }, (_, index) => ({
		json: { phone: phone(index), person_name: `Person ${index}`, city: 'Pune' },
	}));

/** An item with a small file, which n8n stores in the item. */
export const fileItem = (
	fileName: string,
	content: string | Buffer,
	field = 'data',
): INodeExecutionData => ({
	json: { note: fileName },
	binary: {
		[field]: { data: Buffer.from(content).toString('base64'), mimeType: 'text/csv', fileName },
	},
});
/** The documented response to a request. */
export const accepted = (contacts: number, over: JsonObject = {}): JsonObject => ({
	success: true,
	data: {
		campaign_upload_id: 501,
		contacts_received: contacts,
		contacts_accepted: contacts,
		duplicates_removed: 0,
		enqueued: false,
		queued_calls: 0,
		engine_skipped_duplicates: [],
		dnd_skipped: [],
		warnings: [],
		...over,
	},
});

/** What the summary of a push with *Add and Let Wait* adds to the counts. */
const UNTIL_RELEASED =
	"Pushed rows wait in the campaign, and nobody is called until they're released to the calling queue. The service's documentation doesn't show how to release them later.";
export const WAITING = `${UNTIL_RELEASED} Pushing them again may add everyone a second time.`;
/** With *Numbers Pushed Before: Skip*. */
export const WAITING_ONCE = `${UNTIL_RELEASED} The node doesn't push them again.`;

/** The totals of a push whose only request pushed every row, without the number of rows. */
export const totals = {
	requests: 1,
	rejected: 0,
	do_not_disturb: 0,
	sent_before: 0,
	unknown: 0,
	not_sent: 0,
	duplicate: 0,
	skipped_unmatched: 0,
};

export const rejection = (error: string, details: JsonObject | null = null): JsonObject => ({
	success: false,
	error,
	details,
});

/** n8n's engine without waits, in each test of a file. */
export function pushHarness() {
	useNoWaits();
	afterEach(() => jest.restoreAllMocks());
	return engineHarness();
}

/** The node with the summary, which most tests are about. */
export function pushNode(
	{ options, ...parameters }: NodeParameters = {},
	over: Partial<INode> = {},
) {
	return harness.node('pushCampaignContacts', {
		parameters: {
			campaignId: '42',
			agentUuid: { __rl: true, mode: 'id', value: 'agent_5f2c' },
			whatToDo: 'wait',
			numbersPushedBefore: 'pushAgain',
			...parameters,
			options: { output: 'summary', ...(typeof options === 'object' && options) },
		},
		...over,
	});
}

export const inTwos = { options: { contactsPerRequest: 2 } };
export const goOn = { onError: 'continueRegularOutput' } as const;

export type PushRun = {
	pushed: INodeExecutionData[];
	rejected: INodeExecutionData[];
	skipped: INodeExecutionData[];
	/** Those of *Rejected* and *Skipped* in the order of the rows, such as `1 rejected`. */
	statuses: string[];
	error: IRun['data']['resultData']['error'];
	hints: string[];
	run: IRun;
};

/** The outputs of the last run of the node. */
export function outputsOf(run: IRun): PushRun {
	const [pushed, rejected, skipped] = [0, 1, 2].map((index) => output(run, 'Node', index));
	return {
		pushed: pushed ?? [],
		rejected: rejected ?? [],
		skipped: skipped ?? [],
		statuses: statusesOf([...(rejected ?? []), ...(skipped ?? [])]),
		error: run.data.resultData.error,
		hints: hintsOf(run),
		run,
	};
}

export const OUTPUTS = ['Pushed', 'Rejected', 'Skipped', 'Errors'];

/** The input rows of items. */
export const rowsOfItems = (items: INodeExecutionData[]): number[] =>
	items.flatMap(({ pairedItem }) =>
		[pairedItem ?? []].flat().map((from) => (typeof from === 'number' ? from : from.item)),
	);

const statusesOf = (items: INodeExecutionData[]) =>
	sortBy(items, (item) => rowsOfItems([item])[0]).map(
		(item) => `${rowsOfItems([item]).join()} ${plainText(item.json.push_status)}`,
	);

export async function runPush(
	input: INodeExecutionData[],
	parameters: NodeParameters = {},
	over: Partial<INode> = {},
	settings: IWorkflowSettings = {},
): Promise<PushRun> {
	return outputsOf(await runNode(pushNode(parameters, over), input, OUTPUTS, settings));
}

/** Pushes with *Continue*, so that each row is in an output. */
export async function push(
	rows: number | INodeExecutionData[],
	parameters: NodeParameters = {},
	over: Partial<INode> = {},
): Promise<PushRun> {
	const input = typeof rows === 'number' ? manyRows(rows) : rows;
	return await runPush(input, parameters, { ...goOn, ...over });
}

export type Reply = [
	status: number,
	body: JsonObject | string,
	headers?: { [name: string]: string },
];

/** Every contact of a request is accepted. */
export const ok = (count = 1): Reply => [200, accepted(count)];
export const ARCHIVED: Reply = [409, rejection('Campaign is archived')];
/** The connection breaks. */
export const BROKEN = Object.assign(new Error('ECONNRESET'), { code: 'ECONNRESET' });

/** What the service does with a request that has these numbers. */
type Script = (phones: string[], request: number) => Reply | Error;
export const accepting: Script = (phones, request) => [
	200,
	accepted(phones.length, { campaign_upload_id: 500 + request }),
];

/** Accepts all requests but this one. */
export const butRequest =
	(nth: number, reply: Reply | Error): Script =>
	(numbers, request) =>
		request === nth ? reply : accepting(numbers, request);

/** The service, which does with each request what the script says. Returns the numbers of each request. */
export function scripted(script: Script = accepting): string[][] {
	const sent: string[][] = [];
	service()
		.persist()
		.post(/^\/v1\/campaigns\/\d+\/contacts$/)
		.optionally()
		.reply((_uri, body, respond) => {
			const phones = phonesOf(isJsonObject(body) ? body : {}).map(plainText);
			const answer = script(phones, sent.push(phones));
			if (answer instanceof Error) {
				respond(answer, [0]);
			} else {
				const [status, text, headers = {}] = answer;
				respond(null, [status, text, headers]);
			}
		});
	return sent;
}

/** A campaign with this status, and its active agent. */
export function campaign(status = 'Active', id = 42): void {
	const data = { campaign: { id, status }, calls: {}, uploads: [] };
	const agents = [{ agent_uuid: 'agent_5f2c' }];
	const read = (path: string, body: object) =>
		service().persist().get(path).optionally().reply(200, { success: true, data: body });
	read(`/v1/campaigns/${id}/status`, data);
	read('/v1/active_agents', agents);
}

/** Answers requests in turn and remembers their bodies. */
export function respondWith(...replies: Array<Reply | Error>): JsonObject[] {
	const bodies: JsonObject[] = [];
	for (const reply of replies) {
		const request = service().post(PATH, remembering(bodies));
		if (reply instanceof Error) request.replyWithError(reply);
		else request.reply(reply[0], reply[1], { 'Retry-After': '0' });
	}
	return bodies;
}

export const contactsOf = (body: JsonObject | undefined): JsonObject[] =>
	Array.isArray(body?.contacts) ? body.contacts.filter(isJsonObject) : [];

export const phonesOf = (body: JsonObject | undefined) =>
	contactsOf(body).map((contact) => contact.phone);

export const sizes = (bodies: JsonObject[]) => bodies.map((body) => phonesOf(body).length);

export const jsonOf = (items: INodeExecutionData[]) => items.map(({ json }) => json);

/** Runs a push that must succeed, and returns the bodies of its requests. */
export async function sent(
	parameters: NodeParameters,
	...rows: JsonObject[]
): Promise<JsonObject[]> {
	const bodies = respondWith([200, accepted(rows.length)]);
	const { error } = await runPush(rowsOf(...rows), parameters);
	expect(error).toBeUndefined();
	return bodies;
}

export function remembering(bodies: JsonObject[]): (body: unknown) => boolean {
	return (body) => {
		if (!isJsonObject(body)) return false;
		bodies.push(body);
		return true;
	};
}
