import { inspect } from 'node:util';
import type { INodeParameters } from 'n8n-workflow';
import nock from 'nock';
import { credentialFor } from '../contract/credentialFor';
import { engineHarness, HOST, runNode, TOKEN, records, useNoWaits } from '../engine';
import { dialects, fixtures } from '../simulator';

const harness = engineHarness();
const { sessions } = fixtures;
const agentUuid = { __rl: true, mode: 'id', value: 'agent_a1' };
const sessionId = sessions.open;
const message = 'Hello';

type Row = [name: string, type: string, parameters: INodeParameters];

/** Every node and operation that changes something. */
const WRITES: Row[] = [
	['Place Call', 'placeCall', { agentUuid, countryCode: 'IN', phoneNumber: '9876543210' }],
	[
		'Place Call with the legacy endpoint',
		'placeCall',
		{
			agentUuid,
			countryCode: 'IN',
			phoneNumber: '9876543210',
			developerSettings: { useLegacyEndpoint: true },
		},
	],
	[
		'Push Campaign Contacts',
		'pushCampaignContacts',
		{ campaignId: '42', agentUuid, whatToDo: 'wait' },
	],
	['DND List › Remove', 'dnd', { operation: 'remove', agentUuid, phone: '+919876543210' }],
	['Inject Context', 'injectContext', { sessionId, context: 'x' }],
	['Chat Send by request', 'chatSend', { sendBy: 'inbound', sessionId, message }],
	['Chat Send by legacy request', 'chatSend', { sendBy: 'legacy', sessionId, message, agentUuid }],
	['Chat Session › Legacy Create', 'chatSession', { operation: 'legacyCreate', agentUuid }],
	[
		'Chat Session › Legacy Close',
		'chatSession',
		{ operation: 'legacyClose', sessionId, agentUuid },
	],
	[
		'Chat Session › Legacy Pause',
		'chatSession',
		{ operation: 'legacyPause', sessionId, agentUuid },
	],
];

/** The same with an undocumented response, so `success: true` is the only proof. */
const UNDOCUMENTED_WRITES: Row[] = [
	['DND List › Add', 'dnd', { operation: 'add', agentUuid, phone: '+919876543210' }],
	['Chat Send by asynchronous request', 'chatSend', { sendBy: 'async', sessionId, message }],
	['Chat Session › Create', 'chatSession', { operation: 'create', agentUuid }],
	['Chat Session › Close', 'chatSession', { operation: 'close', sessionId }],
	[
		'Chat Session › Support Command',
		'chatSession',
		{ operation: 'supportCommand', sessionId, command: 'tell' },
	],
];

/** Every endpoint with every kind of response: test/nodes/shared/api/everyResponse. */
const NO_PROOF: Array<[status: number, text: string]> = [
	[200, ''],
	[200, '{"data":[],"error":"The agent is suspended"}'],
	[200, '{"data":[],"errors":["The agent is suspended"],"meta":{"total_pages":0}}'],
	[404, '<html>Not found</html>'],
];
const BARE: [status: number, text: string] = [200, '{"success":true}'];

useNoWaits();

/** Runs the node with a service that returns this response to every request. */
async function run(type: string, parameters: INodeParameters, status: number, text: string) {
	const credential = credentialFor({ baseUrl: HOST, token: TOKEN, dialect: dialects.plain });
	let requests = 0;
	const respond = () => {
		requests++;
		return [status, text] as const;
	};
	for (const method of ['GET', 'POST', 'DELETE']) {
		nock(HOST).persist().intercept(/./, method).optionally().reply(respond);
	}
	const node = await harness.nodeWith(credential, type, {
		parameters,
		retryOnFail: true,
		maxTries: 3,
		waitBetweenTries: 1,
	});
	const input = [{ json: { phone: '9876543210', person_name: 'Asha' } }];
	const result = await runNode(node, input);
	nock.cleanAll();
	expect(inspect(result, { depth: Infinity })).not.toContain(TOKEN);
	const { error } = result.data.resultData;
	return { requests, error, items: records(result) };
}

describe.each([...WRITES, ...UNDOCUMENTED_WRITES])('%s', (what, type, parameters) => {
	const isUndocumented = UNDOCUMENTED_WRITES.some(([name]) => name === what);

	test.each(isUndocumented ? NO_PROOF : [...NO_PROOF, BARE])(
		'%i %s: the outcome is unknown, and the request is sent once',
		async (status, text) => {
			const { requests, error, items } = await run(type, parameters, status, text);
			expect(items).toEqual([]);
			expect(error?.message).toContain('so the outcome is unknown');
			expect(error?.description).not.toContain('The service said');
			expect(requests).toBe(1);
		},
	);

	test('{"success":false}: a rejection', async () => {
		const { error, items } = await run(type, parameters, 200, '{"success":false}');
		expect(items).toEqual([]);
		expect(error?.message).toMatch(/^The service rejected the (request|call)$/);
	});
});

test.each(UNDOCUMENTED_WRITES)(
	'%s: {"success":true} is a success',
	async (_what, type, parameters) => {
		const { requests, error, items } = await run(type, parameters, ...BARE);
		expect(error).toBeUndefined();
		expect(items).toHaveLength(1);
		expect(requests).toBe(1);
	},
);
