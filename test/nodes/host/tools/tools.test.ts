import type {
	ICredentialDataDecryptedObject,
	IDataObject,
	INodeCredentialsDetails,
	INodeParameters,
} from 'n8n-workflow';
import { callerOf } from '../../../../nodes/host/caller/caller';
import { type CompletedRequest, RunResult } from '../../../../nodes/host/execution/runResult';
import { runForModel } from '../../../../nodes/host/run/toolResult';
import type { JsonObject } from '../../../../nodes/core/values/json';
import {
	InvalidInput,
	OutcomeUnknown,
	ServiceRejection,
	unusable,
} from '../../../../nodes/core/service/errors';
import { CREDENTIAL } from '../../../../nodes/host/http/credential';
import {
	newExecutionData,
	engineHarness,
	engineTool,
	inlineTool,
	mcpContext,
	mcpTool,
	service,
	storedCopy,
	type AgentRun,
	type CallTool,
} from '../../../engine';
import { AGENT, WITH_PROFILE, PATH as DND } from '../../Dnd/dndHarness';
import { acceptCalls, BODY, CALL, callsEndpoint } from '../../PlaceCall/placeCallHarness';
import {
	accepted,
	pushNode,
	PATH as CONTACTS,
	rejection,
} from '../../PushCampaignContacts/pushHarness';

const harness = engineHarness();
afterEach(() => jest.restoreAllMocks());

const SESSION = '0f8fad5b-d9cb-469f-a165-70867728950e';
const FIELDS = ['outcome', 'what_happened', 'next_step', 'result'];

/** The ways in which n8n runs a tool for an agent. */
const ROUTES = [
	['run by the engine', engineTool],
	['called by the agent', inlineTool],
] as const;

const known = new Map<string, INodeCredentialsDetails>();

async function node(
	type: string,
	parameters: INodeParameters,
	details: ICredentialDataDecryptedObject = {},
) {
	const name = JSON.stringify(details);
	const credential = known.get(name) ?? (await harness.addCredential(details));
	known.set(name, credential);
	const credentials = { [CREDENTIAL]: credential };
	return harness.node(type, { parameters, credentials, retryOnFail: true });
}

const outcomesOf = (results: IDataObject[]) => results.map(({ outcome }) => outcome);

/** The result, if it has the fields of every tool result. */
const checked = (result: IDataObject) => {
	expect(Object.keys(result)).toEqual(FIELDS);
	return result;
};

describe.each(ROUTES)('a tool %s', (_name, route) => {
	const toolOf = async (
		type: string,
		parameters: INodeParameters,
		details?: ICredentialDataDecryptedObject,
		run?: AgentRun,
	): Promise<CallTool> => route(await node(type, parameters, details), run);

	test('a call is placed once per execution, also in a later agent run', async () => {
		const data = newExecutionData();
		const bodies = acceptCalls(1);
		const first = await toolOf('placeCall', CALL, {}, { data });
		const done = checked(await first());
		expect(done).toMatchObject({
			outcome: 'done',
			result: { call_id: 'call-9876543210' },
		});
		expect(checked(await first())).toEqual({
			...done,
			outcome: 'already_done',
			what_happened:
				'A call to 9876543210 (IN) was placed. An earlier request already did this. It was not done again.',
			next_step: 'Continue with the result.',
		});
		const second = await toolOf('placeCall', CALL, {}, { data, run: 1 });
		expect(await second()).toMatchObject({ outcome: 'not_sent' });
		expect(bodies).toEqual([BODY]);
	});

	test('a model may place 3 calls by default, and gets a message when the limit is used up', async () => {
		const data = newExecutionData();
		const parameters = { ...CALL, phoneNumber: "={{ $fromAI('phone') }}" };
		const tool = await toolOf('placeCall', parameters, {}, { data });
		// Another row has a limit of its own.
		const other = await toolOf('placeCall', parameters, {}, { data, row: { name: 'Asha' } });
		expect(await tool({ phone: '12' + 'x' })).toMatchObject({ outcome: 'not_sent' });
		callsEndpoint().reply(400, rejection('phone_number is implausible'));
		expect(await tool({ phone: '9876543219' })).toMatchObject({ outcome: 'rejected' });
		callsEndpoint().reply(502, '');
		expect(await tool({ phone: '9876543218' })).toMatchObject({ outcome: 'unknown' });
		const bodies = acceptCalls(3);
		expect(await tool({ phone: '9876543210' })).toMatchObject({ outcome: 'done' });
		expect(await other({ phone: '9876543212' })).toMatchObject({ outcome: 'done' });
		expect(await tool({ phone: '9876543213' })).toMatchObject({ outcome: 'done' });
		const used = checked(await tool({ phone: '9876543211' }));
		expect(used).toMatchObject({
			outcome: 'not_sent',
			what_happened: 'Nothing was sent, because this run has used its limit of 3 calls.',
			next_step:
				'Do not ask for another call now. Tell the user you are chatting with what was done and what remains to be done.',
		});
		// Completed calls are still returned, and the limit starts again with the next run.
		expect(await tool({ phone: '9876543210' })).toMatchObject({ outcome: 'already_done' });
		acceptCalls(1);
		const next = await toolOf('placeCall', parameters, {}, { data, run: 1 });
		expect(await next({ phone: '9876543211' })).toMatchObject({ outcome: 'done' });
		expect(bodies).toHaveLength(3);
	});

	test('simultaneous calls count toward the limit', async () => {
		const parameters = { ...CALL, phoneNumber: "={{ $fromAI('phone') }}" };
		const tool = await toolOf('placeCall', { ...parameters, options: { maximumCallsPerRun: 1 } });
		acceptCalls(1);
		const phones = ['9876543210', '9876543211', '9876543212'];
		const results = await Promise.all(phones.map(async (phone) => await tool({ phone })));
		expect(outcomesOf(results).sort()).toEqual(['done', 'not_sent', 'not_sent']);
		expect(results.map(({ what_happened: happened }) => happened)).toContain(
			'Nothing was sent, because this run has used its limit of 1 call.',
		);
	});

	test('an invalid limit stops the tool', async () => {
		const tool = await toolOf('placeCall', { ...CALL, options: { maximumCallsPerRun: 0 } });
		expect(await tool()).toMatchObject({
			outcome: 'not_sent',
			what_happened: expect.stringContaining(
				"'Maximum Calls per Agent Run' must be a whole number from 1",
			),
		});
	});

	test('a retry of the execution returns what was completed', async () => {
		const data = newExecutionData();
		acceptCalls(1);
		callsEndpoint().reply(502, '');
		const parameters = { ...CALL, phoneNumber: '={{ $json.phone }}' };
		const of = async (phone: string, execution = data) =>
			await (
				await toolOf('placeCall', parameters, {}, { data: execution, row: { phone } })
			)();
		await of('9876543210');
		await of('9876543211');
		const again = storedCopy(data);
		expect(await of('9876543210', again)).toMatchObject({ outcome: 'already_done' });
		expect(await of('9876543211', again)).toMatchObject({ outcome: 'unknown' });
	});

	test('equal requests in flight share one result, also an unknown one', async () => {
		const tool = await toolOf('placeCall', CALL);
		callsEndpoint().delay(20).reply(500, '');
		const results = await Promise.all([tool(), tool(), tool()]);
		expect(outcomesOf(results)).toEqual(['unknown', 'unknown', 'unknown']);
	});

	test('a rejected request may be repeated, and has the words of the service once', async () => {
		const tool = await toolOf('placeCall', CALL);
		callsEndpoint().reply(422, rejection('number is on the do-not-disturb list'));
		acceptCalls(1);
		expect(checked(await tool())).toEqual({
			outcome: 'rejected',
			what_happened: 'The service rejected the request (number is on the do-not-disturb list).',
			next_step: expect.stringContaining('Request again only what you can correct.'),
			result: null,
		});
		expect(await tool()).toMatchObject({ outcome: 'done' });
	});

	test('what is harmless twice may be requested again', async () => {
		const data = newExecutionData();
		const toolFor = async (operation: string) =>
			await toolOf('dnd', { agentUuid: AGENT, phone: '9812345678', operation }, WITH_PROFILE, {
				data,
			});
		const [add, remove] = [await toolFor('add'), await toolFor('remove')];
		service()
			.post(DND)
			.times(3)
			.reply(200, { success: true, data: { id: 7 } });
		service().delete(DND).query(true).times(2).reply(200, { success: true, message: 'Removed' });
		const results = [await add(), await add(), await remove(), await remove(), await add()];
		expect(outcomesOf(results)).toEqual(new Array(5).fill('done'));
		expect(results[2]).toMatchObject({ result: { message: 'Removed' } });
	});

	describe('a context', () => {
		const parameters = { sessionId: SESSION, context: 'yes' };
		const respond = (status: number, times: number) => {
			const data = { session_id: SESSION, context: ['yes'] };
			service()
				.post(/inject_context$/)
				.times(times)
				.reply(status, { success: status === 200, data });
		};

		test('may be injected twice, unless the first outcome is unknown', async () => {
			const tool = await toolOf('injectContext', parameters);
			respond(200, 2);
			respond(502, 1);
			const results = [await tool(), await tool(), await tool(), await tool()];
			expect(outcomesOf(results)).toEqual(['done', 'done', 'unknown', 'unknown']);
			expect(results[0]).toMatchObject({
				result: { session_id: SESSION },
				next_step:
					'Continue with the result. You can send another request. Repeating this one would do it a second time.',
			});
		});

		test('that comes again while it is in flight is injected once', async () => {
			const tool = await toolOf('injectContext', parameters);
			respond(200, 2);
			const together = async () => outcomesOf(await Promise.all([tool(), tool()]));
			expect(await together()).toEqual(['done', 'already_done']);
			expect(await together()).toEqual(['done', 'already_done']);
		});

		test('is not injected again after Retry, and a second one is', async () => {
			const data = newExecutionData();
			respond(200, 2);
			const first = await toolOf('injectContext', parameters, {}, { data });
			await first();
			const again = await toolOf('injectContext', parameters, {}, { data: storedCopy(data) });
			expect(outcomesOf([await again(), await again()])).toEqual(['already_done', 'done']);
		});

		test('may be injected again after the execution waited, as for a human review', async () => {
			const data = newExecutionData();
			const execution = { data, executionId: 'waits' };
			respond(200, 2);
			const before = await toolOf('injectContext', parameters, {}, execution);
			const first = await before();
			const resumed = { ...execution, data: storedCopy(data) };
			const after = await toolOf('injectContext', parameters, {}, resumed);
			expect(outcomesOf([first, await after()])).toEqual(['done', 'done']);
		});
	});

	test('a pushed row is pushed once, also with other options', async () => {
		const data = newExecutionData();
		const whatWasDone: unknown[] = [];
		const respond = (status: number, body: JsonObject | string) =>
			service()
				.post(CONTACTS, (sent: JsonObject) => whatWasDone.push(sent.enqueue) > 0)
				.reply(status, body);
		respond(200, accepted(1));
		respond(502, '');
		const push = async (row: IDataObject, whatToDo: string) =>
			await route(pushNode({ whatToDo }), { row, data })();
		const row = { phone: '9876543210', person_name: 'Asha' };
		const other = { phone: '9876543211' };
		expect([
			await push(row, 'wait'),
			await push({ ...row, person_name: 'Asha Rao' }, 'release'),
			await push(other, 'wait'),
			await push(other, 'release'),
		]).toMatchObject([
			{ outcome: 'done', result: { campaign_upload_ids: [501] } },
			{ outcome: 'not_sent' },
			{ outcome: 'unknown' },
			{ outcome: 'unknown' },
		]);
		expect(whatWasDone).toEqual([false, false]);
	});
});

describe('a tool of an MCP client', () => {
	test('a person is called once per session, and a repeated request is told that it may have been sent', async () => {
		const tool = await node('placeCall', CALL);
		acceptCalls(2);
		const results = [
			await mcpTool(tool, 'one')(),
			await mcpTool(tool, 'one')(),
			await mcpTool(tool, 'two')(),
		];
		expect(outcomesOf(results.map(checked))).toEqual(['done', 'unknown', 'done']);
	});

	test('a session may place as many calls as an agent run', async () => {
		const parameters = { ...CALL, phoneNumber: "={{ $fromAI('phone') }}" };
		const options = { maximumCallsPerRun: 1 };
		const tool = mcpTool(await node('placeCall', { ...parameters, options }), 'quota');
		callsEndpoint().reply(400, rejection('phone_number is implausible'));
		acceptCalls(1);
		const results: IDataObject[] = [];
		const phones = ['9876543219', '9876543210', '9876543211'];
		for (const phone of phones) results.push(await tool({ phone }));
		expect(outcomesOf(results)).toEqual(['rejected', 'done', 'not_sent']);
	});

	test('a session may inject a context twice, each request by another worker', async () => {
		const data = { session_id: SESSION, context: ['yes'] };
		service()
			.post(/inject_context$/)
			.times(2)
			.reply(200, { success: true, data });
		const form = { sessionId: SESSION, context: 'yes' };
		const tool = mcpTool(await node('injectContext', form), 'twice');
		expect(outcomesOf([await tool(), await tool()])).toEqual(['done', 'done']);
	});

	test('of simultaneous requests of one session, one is sent', async () => {
		const tool = mcpTool(await node('placeCall', CALL), 'three');
		acceptCalls(1);
		const results = await Promise.all([tool(), tool(), tool()]);
		expect(outcomesOf(results)).toEqual(['done', 'unknown', 'unknown']);
	});

	test('without a session ID, each request is sent', async () => {
		const tool = mcpTool(await node('placeCall', CALL));
		acceptCalls(2);
		expect([await tool(), await tool()]).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }]);
	});
});

const CHECK = 'Check the ID.';
const OF_THE_OWNER = 'In n8n, change the setting.';
const invalid = (resolution: string) => new InvalidInput('Wrong', resolution);
const rejected = (resolution: string, isTransient = false) =>
	new ServiceRejection({ message: 'Rejected', resolution, isTransient }, 'No', 404, {
		texts: [],
	});
const unknown = new OutcomeUnknown('No response', OF_THE_OWNER);
const CALL_ONE = { json: { call_id: 'one' } };

/** What the tool did before it failed. Undefined if nothing. */
type Before = 'read' | Partial<CompletedRequest> | undefined;

const FAILURES: { [what: string]: [Before, Error] } = {
	'a read that the service rejects': ['read', rejected(CHECK)],
	'a read with a wrong setting': ['read', invalid(OF_THE_OWNER)],
	'a read without a response': ['read', unknown],
	'a read whose response only the owner can change': ['read', unusable('No list', 'Ask.')],
	'a change that the service rejects': [undefined, rejected(CHECK)],
	'a change that the service rejects for now': [undefined, rejected(OF_THE_OWNER, true)],
	'a change that the service rejects until the owner changes something': [
		undefined,
		rejected(OF_THE_OWNER),
	],
	"an error of n8n's own": [undefined, new Error('No credential')],
	'a wrong value of the model': [undefined, invalid(CHECK)],
	'a change without a response': [undefined, unknown],
	'a wait for a call': [{ output: [CALL_ONE] }, invalid(CHECK)],
	'a wait for a call that was placed before': [
		{ output: [CALL_ONE], isReplay: true },
		invalid(CHECK),
	],
	'a wait for the reply to an earlier message': [{ isReplay: true }, invalid(CHECK)],
	'the rest of a change, without a response': [{ isPartial: true }, unknown],
	'the rest of a change, with a wrong setting': [{ isPartial: true }, invalid(OF_THE_OWNER)],
};

test.each(Object.entries(FAILURES))(
	'the result if this fails: %s',
	async (_what, [before, error]) => {
		const context = mcpContext(await node('placeCall', CALL));
		const output = typeof before === 'object' ? (before.output ?? [{ json: {} }]) : undefined;
		const model = callerOf(context);
		if (model.kind !== 'model') throw new Error('No model asks');
		const result = new RunResult(context);
		const [[item] = []] = await runForModel({ context, caller: model, result }, async () => {
			if (before === 'read') result.setReadOnly();
			else if (output !== undefined)
				result.completed = {
					...{ happened: '', isReplay: false, repeatable: false, ...before },
					output,
				};
			return await Promise.reject(error);
		});
		expect(item?.pairedItem).toEqual({ item: 0 });
		expect(checked(item?.json ?? {})).toMatchSnapshot();
	},
);
