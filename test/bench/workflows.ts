import type { INode, INodeParameters } from 'n8n-workflow';
import type { Reference } from '../n8n/driver';
import { chain, node, webhook, type WorkflowJson } from '../n8n/workflow';
import { fixtures } from '../simulator';

const PACKAGE = 'n8n-nodes-voice-chat-agent';
const CONTACTS_PER_REQUEST = 10_000;

/** Where the benchmark's service is and which credentials reach it. */
export type Target = {
	baseUrl: string;
	/** Credential of this package. */
	ours: Reference;
	/** Header credential for the HTTP Request node. */
	header: Reference;
};

const agent = { __rl: true, mode: 'id', value: fixtures.agents.full };

function readCsv(file: string): INode[] {
	return [
		node('Read', 'n8n-nodes-base.readWriteFile', 1.1, { fileSelector: file }),
		node('Extract', 'n8n-nodes-base.extractFromFile', 1.1, { operation: 'csv' }),
	];
}

const done = () => node('Done', 'n8n-nodes-base.noOp', 1);

/** Only reads the file: what both sides of a feed have in common. */
export function readOnly(path: string, file: string): WorkflowJson {
	return chain(path, webhook(path), ...readCsv(file), done());
}

export function ourFeed(path: string, file: string, { ours }: Target): WorkflowJson {
	const push = node(
		'Push',
		`${PACKAGE}.pushCampaignContacts`,
		1,
		{ campaignId: String(fixtures.campaigns.active), agentUuid: agent },
		{ credentials: { voiceChatAgentApiTokenApi: ours } },
	);
	return chain(path, webhook(path), ...readCsv(file), push);
}

function httpPost(url: string, jsonBody: string, { header }: Target): INode {
	const parameters: INodeParameters = {
		method: 'POST',
		url,
		authentication: 'genericCredentialType',
		genericAuthType: 'httpHeaderAuth',
		sendBody: true,
		specifyBody: 'json',
		jsonBody,
	};
	return node('HTTP', 'n8n-nodes-base.httpRequest', 4.2, parameters, {
		credentials: { httpHeaderAuth: header },
	});
}

/** The best feed without code: batches of 10,000, each gathered into one request. It cleans nothing. */
export function coreFeed(
	path: string,
	file: string,
	target: Target,
	mapping: INode[] = [],
): WorkflowJson {
	const url = `${target.baseUrl}/v1/campaigns/${fixtures.campaigns.active}/contacts`;
	const head = chain(path, webhook(path), ...readCsv(file), ...mapping);
	const loop = node('Loop', 'n8n-nodes-base.splitInBatches', 3, {
		batchSize: CONTACTS_PER_REQUEST,
	});
	const gather = node('Aggregate', 'n8n-nodes-base.aggregate', 1, {
		aggregate: 'aggregateAllItemData',
		destinationFieldName: 'contacts',
	});
	const body = `={{ { agent_uuid: "${fixtures.agents.full}", contacts: $json.contacts } }}`;
	const to = (name: string) => [{ node: name, type: 'main' as const, index: 0 }];
	const last = head.nodes.at(-1)?.name ?? '';
	return {
		...head,
		nodes: [...head.nodes, loop, gather, httpPost(url, body, target), done()],
		connections: {
			...head.connections,
			[last]: { main: [to('Loop')] },
			Loop: { main: [to('Done'), to('Aggregate')] },
			Aggregate: { main: [to('HTTP')] },
			HTTP: { main: [to('Loop')] },
		},
	};
}

/** Edit Fields as one would map a sheet's columns to the fields of the service. */
export function mapColumns(): INode {
	const assignments = ['phone', 'person_name', 'city', 'plan'].map((name, index) => ({
		id: String(index),
		name,
		value: `={{ $json.${name} }}`,
		type: 'string',
	}));
	return node('Edit Fields', 'n8n-nodes-base.set', 3.4, { assignments: { assignments } });
}

function seedCalls(count: number): INode {
	const jsCode = `return Array.from({ length: ${count} }, (_, i) => ({ json: { phone: String(9876500000 + i), person_name: 'Person ' + i } }));`;
	return node('Seed', 'n8n-nodes-base.code', 2, { jsCode });
}

export function ourCalls(path: string, count: number, { ours }: Target): WorkflowJson {
	const call = node(
		'Place',
		`${PACKAGE}.placeCall`,
		1,
		{
			agentUuid: agent,
			countryCode: 'IN',
			phoneNumber: '={{ $json.phone }}',
			personName: '={{ $json.person_name }}',
			options: { concurrency: 50 },
		},
		{ credentials: { voiceChatAgentApiTokenApi: ours } },
	);
	return chain(path, webhook(path), seedCalls(count), call);
}

export function coreCalls(path: string, count: number, target: Target): WorkflowJson {
	const body = `={{ { agent_uuid: "${fixtures.agents.full}", country_code: "IN", phone_number: $json.phone, person_name: $json.person_name } }}`;
	const call = httpPost(`${target.baseUrl}/v1/call`, body, target);
	return chain(path, webhook(path), seedCalls(count), call);
}
