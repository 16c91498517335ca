import type { ColumnChoice, Columns } from '../../../../nodes/PushCampaignContacts/push/columns';
import { NumbersOfExecution } from '../../../../nodes/PushCampaignContacts/push/numbersOfExecution';
import type { PushOutcome } from '../../../../nodes/PushCampaignContacts/push/outcome';
import { sendInChunks } from '../../../../nodes/PushCampaignContacts/push';
import type { PushDeps } from '../../../../nodes/PushCampaignContacts/push/chunkSender';
import { prepareRows } from '../../../../nodes/PushCampaignContacts/push/prepareRows';
import {
	isPushRecord,
	type PushRecord,
} from '../../../../nodes/PushCampaignContacts/push/pushRecord';
import {
	ItemRows,
	type ContactItem,
	type RowSource,
} from '../../../../nodes/PushCampaignContacts/push/rows';
import {
	bytesOf,
	TransportFault,
	type ServiceRequest,
	type HttpResponse,
} from '../../../../nodes/shared/api/http';
import { isJsonObject, parseJson, type JsonObject } from '../../../../nodes/shared/json';
import { clientOf } from '../../shared/api/clientOf';

export type Script = (phones: string[], request: number) => HttpResponse | TransportFault;

export const defaultChoice: ColumnChoice = {
	phone: 'phone',
	personName: 'person_name',
	lastName: '',
	others: 'all',
	isTool: false,
	from: 'items',
};
export const columns: Columns = {
	phone: { name: 'phone' },
	personName: undefined,
	lastName: undefined,
	others: 'all',
	reserved: new Set(['phone']),
	notOfAll: new Set(['phone']),
};
export const json = (status: number, body: object): HttpResponse => ({
	status,
	headers: {},
	text: JSON.stringify(body),
});
export const accept = (phones: string[], request: number): HttpResponse =>
	json(200, {
		success: true,
		data: { campaign_upload_id: 500 + request, contacts_accepted: phones.length },
	});
export const reject = (error: string, status = 400): HttpResponse =>
	json(status, { success: false, error, details: null });
export const reset = new TransportFault('ECONNRESET', 'ECONNRESET');

/** As the service reads them. */
export function contactsIn({ body = {}, list }: ServiceRequest): JsonObject[] {
	const read = parseJson(bytesOf(body, list).toString());
	if (!isJsonObject(read) || !Array.isArray(read.contacts))
		throw new Error('The request has no contacts');
	return read.contacts.filter(isJsonObject);
}

export const phonesOf = (request: ServiceRequest): string[] =>
	contactsIn(request).map(({ phone }) => (typeof phone === 'string' ? phone : ''));

/** A service that responds by a script and records what was sent. */
export function scripted(script: Script) {
	const requests: ServiceRequest[] = [];
	const sent: string[][] = [];
	const transport = async (request: ServiceRequest): Promise<HttpResponse> => {
		const phones = phonesOf(request);
		requests.push(request);
		sent.push(phones);
		const answer = script(phones, sent.length);
		if (answer instanceof TransportFault) throw answer;
		return answer;
	};
	const options: PushDeps = {
		client: clientOf(transport),
		campaign: { id: 42, agentUuid: 'agent_a', enqueue: false },
		contactsPerRequest: 10_000,
		additions: {},
		stopRequested: () => false,
		isTool: false,
		record: {},
		numbersOfExecution: new NumbersOfExecution({ count: 0, lists: {}, runs: {} }, 42),
	};
	return { requests, sent, options };
}

export const phone = (index: number) => String(9_000_000_000 + index);
export const contactItems = (count: number) =>
	Array.from({ length: count }, (_, index) => ({ json: { phone: phone(index) } }));

function rowsOf(source: number | ContactItem[] | RowSource): RowSource {
	if (typeof source !== 'number' && !Array.isArray(source)) return source;
	return new ItemRows(typeof source === 'number' ? contactItems(source) : source);
}

/** @param record of earlier attempts */
export async function push(
	source: number | ContactItem[] | RowSource,
	options: PushDeps,
	record: PushRecord = {},
	own = columns,
): Promise<PushOutcome> {
	const rows = rowsOf(source);
	const prepared = await prepareRows(rows, [own]);
	const { enqueue } = options.campaign;
	const { notPushed } = prepared;
	const outcome: PushOutcome = { received: rows.count, pushed: [], notPushed, enqueue };
	await sendInChunks(prepared, { ...options, record }, outcome);
	return outcome;
}

/** The record of an earlier attempt, stored and read again as n8n does. */
export function stored(record: PushRecord): PushRecord {
	const read: unknown = JSON.parse(JSON.stringify(record));
	if (!isPushRecord(read)) throw new Error('The record cannot be read again');
	return read;
}

export const statuses = ({ notPushed }: PushOutcome) =>
	Array.from(notPushed, ({ index, status }) => `${index} ${status}`);
