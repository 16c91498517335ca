/** The workflows of both sides. The core workflows are the best that an experienced user can build without code. */
import type { INode, INodeParameters } from 'n8n-workflow';
import { CREDENTIAL } from '../../../nodes/host/http/credential';
import { packageName } from '../../n8n/package-install';
import type { Reference } from '../../n8n/driver';
import { byId, node } from '../../n8n/workflow';
import { fixtures } from '../../simulator';

export const CONCURRENCY = 50;
const CONTACTS_PER_REQUEST = 10_000;

/** The service, the folder with files, and the credentials. */
export type Target = {
	baseUrl: string;
	files: string;
	/** Credential of this package. */
	ours: Reference;
	/** Header credential for the HTTP Request node. */
	header: Reference;
};

/** The nodes after the webhook. The nodes in `loop` run for each batch. */
export type Flow = { nodes: INode[]; loop?: INode[] };

const agentUuid = fixtures.agents.full;
const agent = { __rl: true, mode: 'id', value: agentUuid };
const options = { concurrency: CONCURRENCY };

function ours(type: string, parameters: INodeParameters, { ours: account }: Target): INode {
	const credentials = { [CREDENTIAL]: account };
	return node('Ours', `${packageName}.${type}`, 1, parameters, { credentials });
}

export function http(url: string, parameters: INodeParameters, { header, baseUrl }: Target): INode {
	const all = {
		url: `${url.startsWith('=') ? '=' : ''}${baseUrl}${url.replace(/^=/, '')}`,
		authentication: 'genericCredentialType',
		genericAuthType: 'httpHeaderAuth',
		...parameters,
	};
	const credentials = { httpHeaderAuth: header };
	return node('HTTP', 'n8n-nodes-base.httpRequest', 4.2, all, { credentials });
}

const json = (jsonBody: string) => ({
	method: 'POST',
	sendBody: true,
	specifyBody: 'json',
	jsonBody,
});

const query = (values: { [name: string]: string }) => ({
	sendQuery: true,
	queryParameters: {
		parameters: Object.entries(values).map(([name, value]) => ({ name, value })),
	},
});

export const read = (fileSelector: string) =>
	node('Read', 'n8n-nodes-base.readWriteFile', 1.1, { fileSelector });

const extract = () => node('Extract', 'n8n-nodes-base.extractFromFile', 1.1, { operation: 'csv' });

export const readCsv = (file: string) => [read(file), extract()];

const done = () => node('Done', 'n8n-nodes-base.noOp', 1);

/** The input items. `row` is JavaScript that creates the JSON of item `i`. */
function seed(count: number, row: string): INode {
	const jsCode = `return Array.from({ length: ${count} }, (_, i) => ({ json: ${row} }));`;
	return node('Seed', 'n8n-nodes-base.code', 2, { jsCode });
}

export const push = (target: Target, more: INodeParameters = {}) =>
	ours(
		'pushCampaignContacts',
		{ campaignId: byId(fixtures.campaigns.active), agentUuid: agent, whatToDo: 'wait', ...more },
		target,
	);

/** Sends one request per batch of 10,000. Doesn't clean numbers or remove duplicates. */
export function corePush(file: string, target: Target, ...mapping: INode[]): Flow {
	const path = `/v1/campaigns/${fixtures.campaigns.active}/contacts`;
	const body = `={{ { agent_uuid: "${agentUuid}", contacts: $json.contacts } }}`;
	return {
		nodes: [
			...readCsv(file),
			...mapping,
			node('Loop', 'n8n-nodes-base.splitInBatches', 3, { batchSize: CONTACTS_PER_REQUEST }),
			done(),
		],
		loop: [
			node('Aggregate', 'n8n-nodes-base.aggregate', 1, {
				aggregate: 'aggregateAllItemData',
				destinationFieldName: 'contacts',
			}),
			http(path, json(body), target),
		],
	};
}

/** Edit Fields that maps the columns of a sheet to the fields of the service. */
export function mapColumns(): INode {
	const assignments = ['phone', 'person_name', 'city', 'plan'].map((name, index) => ({
		id: String(index),
		name,
		value: `={{ $json.${name} }}`,
		type: 'string',
	}));
	return node('Edit Fields', 'n8n-nodes-base.set', 3.4, { assignments: { assignments } });
}

const PERSON = '{ phone: String(9876500000 + i) }';

const people = (count: number) => seed(count, PERSON);

/** Other people in each execution. The first one has as many as n8n is to remember. */
function newPeople(remembered: number, count: number): INode {
	const jsCode = `const known = $getWorkflowStaticData('global');
const from = known.count ?? 0;
known.count = from + (from === 0 ? ${remembered} : ${count});
return Array.from({ length: known.count - from }, (_, n) => from + n).map((i) => ({ json: ${PERSON} }));`;
	return node('Seed', 'n8n-nodes-base.code', 2, { jsCode });
}

/** Calls with *Limit Calls per Person*, or without it. */
export const limitedCalls =
	(remembered: number, count: number, isLimited: boolean) =>
	(target: Target): Flow => ({
		nodes: [newPeople(remembered, count), placeCall(target, isLimited ? { callLimit: 'day' } : {})],
	});

/** A push that skips numbers pushed before, or doesn't. */
export const skippingPush =
	(remembered: number, count: number, isSkipping: boolean) =>
	(target: Target): Flow => ({
		nodes: [
			newPeople(remembered, count),
			push(target, { numbersPushedBefore: isSkipping ? 'skipNumbers' : 'pushAgain' }),
		],
	});

function placeCall(target: Target, more: INodeParameters = {}): INode {
	const person = { agentUuid: agent, countryCode: 'IN', phoneNumber: '={{ $json.phone }}' };
	return ours('placeCall', { whatToDo: 'place', ...person, options, ...more }, target);
}

export const placeCalls =
	(count: number) =>
	(target: Target): Flow => ({
		nodes: [people(count), placeCall(target)],
	});

/** The whole body in one expression, which is faster than one expression per field. */
export const coreCalls =
	(count: number) =>
	(target: Target): Flow => ({
		nodes: [
			people(count),
			http(
				'/v1/call',
				json(
					`={{ { agent_uuid: "${agentUuid}", country_code: "IN", phone_number: $json.phone } }}`,
				),
				target,
			),
		],
	});

const callIds = (count: number) =>
	seed(count, `{ id: '6f1c2a34-0000-4000-8000-' + String(1000000 + i).padStart(12, '0') }`);

export const getCalls =
	(count: number) =>
	(target: Target): Flow => ({
		nodes: [
			callIds(count),
			ours(
				'getCall',
				{ operation: 'get', callId: '={{ $json.id }}', output: 'raw', options },
				target,
			),
		],
	});

export const coreGets =
	(count: number) =>
	(target: Target): Flow => ({
		nodes: [callIds(count), http('=/v1/call/{{ $json.id }}', {}, target)],
	});

export const getMany =
	() =>
	(target: Target): Flow => ({
		nodes: [ours('getCall', { operation: 'getMany', returnAll: true, output: 'raw' }, target)],
	});

/** Everybody was reached, and n8n's webhook fails without an item. */
export const getUnreached = (target: Target): Flow => {
	const parameters = {
		...{ operation: 'getUnreached', statuses: byId('not_picked'), periodDays: 3_650 },
	};
	return { nodes: [{ ...ours('getCall', parameters, target), alwaysOutputData: true }] };
};

/** HTTP Request reads all pages, and Split Out creates items. */
export const corePages =
	(path: string) =>
	(target: Target): Flow => {
		const pagination = {
			paginationMode: 'updateAParameterInEachRequest',
			parameters: { parameters: [{ type: 'qs', name: 'page', value: '={{ $pageCount + 1 }}' }] },
			paginationCompleteWhen: 'other',
			completeExpression:
				'={{ $response.body.meta.current_page >= $response.body.meta.total_pages }}',
		};
		const list = {
			...query({ per_page: '100' }),
			options: { pagination: { pagination } },
		};
		return {
			nodes: [
				http(path, list, target),
				node('Split Out', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'data' }),
			],
		};
	};

const numbers = (count: number) => seed(count, `{ phone: '+917' + String(i).padStart(9, '0') }`);

export const dndCheck =
	(count: number) =>
	(target: Target): Flow => ({
		nodes: [
			numbers(count),
			ours('dnd', { operation: 'check', agentUuid: agent, phone: '={{ $json.phone }}' }, target),
		],
	});

/** One request per row, because no core node can compare numbers in different formats with the whole list. */
export const coreLookUps =
	(count: number) =>
	(target: Target): Flow => ({
		nodes: [
			numbers(count),
			http(
				'/v1/dnd_numbers',
				query({ agent_uuid: agentUuid, phone: '={{ $json.phone }}' }),
				target,
			),
		],
	});

export const chatSend =
	(count: number, sessions: number) =>
	(target: Target): Flow => ({
		nodes: [
			seed(
				count,
				`{ session: '3b241101-e2bb-4255-8caf-' + String(i % ${sessions}).padStart(12, '0'), text: 'Message ' + i }`,
			),
			ours(
				'chatSend',
				{
					operation: 'sendMessage',
					sendingMethod: 'socket',
					sessionId: '={{ $json.session }}',
					message: '={{ $json.text }}',
					options: { concurrency: sessions },
				},
				target,
			),
		],
	});
