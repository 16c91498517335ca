import type {
	ICredentialDataDecryptedObject,
	IDataObject,
	INodeCredentialsDetails,
	INodeParameters,
} from 'n8n-workflow';
import { ExecutionStore } from '../../../../../nodes/shared/n8n/idempotency/executionStore';
import { runForModel } from '../../../../../nodes/shared/n8n/tools/toolResult';
import { noteCompleted } from '../../../../../nodes/shared/n8n/tools/toolRun';
import type { JsonObject } from '../../../../../nodes/shared/json';
import { InvalidInput } from '../../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../../nodes/shared/api/modelAdvice';
import { CREDENTIAL } from '../../../../../nodes/shared/n8n/http/credential';
import {
	anExecution,
	engineHarness,
	engineTool,
	inlineTool,
	mcpContext,
	mcpTool,
	service,
	stored,
	type AgentRun,
	type CallTool,
} from '../../../../engine';
import { AGENT, DETAILS, PATH as DND } from '../../../Dnd/dndHarness';
import { acceptCalls, BODY, CALL, callsEndpoint } from '../../../PlaceCall/placeCallHarness';
import {
	accepted,
	pushNode,
	PATH as CONTACTS,
	rejection,
} from '../../../PushCampaignContacts/pushHarness';

const harness = engineHarness();
const SESSION = '0f8fad5b-d9cb-469f-a165-70867728950e';
const FIELDS = ['outcome', 'what_happened', 'next_step', 'id', 'service_said', 'result'];

/** The ways in which n8n calls a tool for an agent. */
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

const told = (answer: IDataObject) => {
	expect(Object.keys(answer)).toEqual(FIELDS);
	return answer;
};

describe.each(ROUTES)('a tool %s', (_name, route) => {
	const toolOf = async (
		type: string,
		parameters: INodeParameters,
		details?: ICredentialDataDecryptedObject,
		run?: AgentRun,
	): Promise<CallTool> => route(harness.credentials, await node(type, parameters, details), run);

	test('a call is placed once for one run of the agent, and again for the next', async () => {
		const data = anExecution();
		const bodies = acceptCalls(2);
		const first = await toolOf('placeCall', CALL, {}, { data });
		const done = told(await first());
		expect(done).toMatchObject({
			outcome: 'done',
			id: 'call-9876543210',
			service_said: null,
			result: { call_id: 'call-9876543210' },
		});
		expect(told(await first())).toEqual({
			...done,
			outcome: 'already_done',
			what_happened: 'This was done before and was not done a second time.',
			next_step: 'Go on with the result.',
		});
		const second = await toolOf('placeCall', CALL, {}, { data, run: 1 });
		expect(await second()).toMatchObject({ outcome: 'done' });
		expect(bodies).toEqual([BODY, BODY]);
	});

	test('two tools with the same wish do it once', async () => {
		const data = anExecution();
		acceptCalls(1);
		const one = { ...(await node('placeCall', CALL)), name: 'One', id: 'one' };
		const other = { ...one, name: 'Other', id: 'other' };
		await route(harness.credentials, one, { data })();
		expect(await route(harness.credentials, other, { data })()).toMatchObject({
			outcome: 'already_done',
		});
	});

	test('a model gets as many calls as it may have, and is told when it had them', async () => {
		const data = anExecution();
		const parameters = { ...CALL, phoneNumber: "={{ $fromAI('phone') }}" };
		const limited = { ...parameters, options: { maximumCallsPerRun: 3 } };
		const tool = await toolOf('placeCall', limited, {}, { data });
		const other = await toolOf('placeCall', parameters, {}, { data });
		expect(await tool({ phone: '12' + 'x' })).toMatchObject({ outcome: 'not_sent' });
		callsEndpoint().reply(400, rejection('phone_number is implausible'));
		expect(await tool({ phone: '9876543219' })).toMatchObject({ outcome: 'rejected' });
		callsEndpoint().reply(502, '');
		expect(await tool({ phone: '9876543218' })).toMatchObject({ outcome: 'unknown' });
		const bodies = acceptCalls(2);
		expect(await tool({ phone: '9876543210' })).toMatchObject({ outcome: 'done' });
		expect(await other({ phone: '9876543212' })).toMatchObject({ outcome: 'done' });
		const used = told(await tool({ phone: '9876543211' }));
		expect(used).toMatchObject({
			outcome: 'not_sent',
			what_happened: 'Nothing was sent: this run may make 3 calls, which were made already.',
			next_step:
				'Do not ask for another call now. Tell the user you are chatting with what was done and what is left.',
		});
		// What was done is still told, and the next run begins anew.
		expect(await tool({ phone: '9876543210' })).toMatchObject({ outcome: 'already_done' });
		acceptCalls(1);
		const next = await toolOf('placeCall', limited, {}, { data, run: 1 });
		expect(await next({ phone: '9876543211' })).toMatchObject({ outcome: 'done' });
		expect(bodies).toHaveLength(2);
	});

	test('calls that are asked for at the same moment count as well', async () => {
		const parameters = { ...CALL, phoneNumber: "={{ $fromAI('phone') }}" };
		const limited = { ...parameters, options: { maximumCallsPerRun: 1 } };
		const tool = await toolOf('placeCall', limited);
		acceptCalls(1);
		const answers = await Promise.all(
			['9876543210', '9876543211', '9876543212'].map(async (phone) => await tool({ phone })),
		);
		expect(answers.map(({ outcome }) => outcome).sort()).toEqual(['done', 'not_sent', 'not_sent']);
	});

	test('a limit that is none stops the tool', async () => {
		const parameters = { ...CALL, options: { maximumCallsPerRun: 0 } };
		expect(await (await toolOf('placeCall', parameters))()).toMatchObject({
			outcome: 'not_sent',
			what_happened: expect.stringContaining("'Maximum Calls per Agent Run' must be at least 1"),
		});
	});

	test('an execution that is retried from the list still knows what was done', async () => {
		const data = anExecution();
		acceptCalls(1);
		callsEndpoint().reply(502, '');
		const parameters = { ...CALL, phoneNumber: '={{ $json.phone }}' };
		const of = async (phone: string, execution = data) =>
			await (
				await toolOf('placeCall', parameters, {}, { data: execution, row: { phone } })
			)();
		await of('9876543210');
		await of('9876543211');
		const again = stored(data);
		expect(await of('9876543210', again)).toMatchObject({ outcome: 'already_done' });
		expect(await of('9876543211', again)).toMatchObject({ outcome: 'unknown' });
	});

	test('wishes under way share one result, also where it is that nothing is known', async () => {
		const tool = await toolOf('placeCall', CALL);
		callsEndpoint().delay(20).reply(500, '');
		const answers = await Promise.all([tool(), tool(), tool()]);
		expect(answers.map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown', 'unknown']);
	});

	test('what was rejected may be asked for again', async () => {
		const tool = await toolOf('placeCall', CALL);
		callsEndpoint().reply(400, rejection('phone_number is implausible'));
		acceptCalls(1);
		expect(told(await tool())).toMatchObject({
			outcome: 'rejected',
			id: null,
			result: null,
			service_said: 'phone_number is implausible',
			next_step: expect.stringContaining('Do not ask for the same again unchanged.'),
		});
		expect(await tool()).toMatchObject({ outcome: 'done' });
	});

	test.each(['continueRegularOutput', 'stopWorkflow', undefined] as const)(
		'with On Error %s the model is told the same',
		async (onError) => {
			const bad = { ...(await node('placeCall', { ...CALL, phoneNumber: 'n/a' })), onError };
			expect(told(await route(harness.credentials, bad)())).toMatchObject({
				outcome: 'not_sent',
				what_happened: 'Phone Number "n/a" is not a phone number.',
			});
		},
	);

	test('a credential that is of no use is told', async () => {
		const tool = await toolOf('placeCall', CALL, { apiToken: 'short' });
		expect(told(await tool())).toMatchObject({
			outcome: 'not_sent',
			what_happened: expect.stringContaining('must have 16 characters (got 5)'),
		});
	});

	test('a number put on the list, taken off it and put on it again is put on it twice', async () => {
		const data = anExecution();
		const onList = { agentUuid: AGENT, phone: '+919812345678' };
		const add = await toolOf('dnd', { ...onList, operation: 'add' }, DETAILS, { data });
		const remove = await toolOf(
			'dnd',
			{ ...onList, phone: '9812345678', operation: 'remove' },
			DETAILS,
			{ data },
		);
		service()
			.post(DND)
			.times(2)
			.reply(200, { success: true, data: { id: 7 } });
		service().delete(DND).query(true).reply(200, { success: true, message: 'Removed' });
		const answers = [await add(), await add(), await remove(), await remove(), await add()];
		expect(answers.map(({ outcome }) => outcome)).toEqual([
			'done',
			'already_done',
			'done',
			'already_done',
			'done',
		]);
		expect(answers[2]).toMatchObject({ service_said: 'Removed' });
	});

	test('a context may be told twice, unless the fate of the first is open', async () => {
		const tool = await toolOf('injectContext', { sessionId: SESSION, context: 'yes' });
		const path = `/v1/chat/session/${SESSION}/inject_context`;
		const data = { session_id: SESSION, context: ['yes'] };
		service().post(path).times(2).reply(200, { success: true, data });
		service().post(path).reply(502, '');
		const answers = [await tool(), await tool(), await tool(), await tool()];
		expect(answers.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'unknown', 'unknown']);
		expect(answers[0]).toMatchObject({ id: SESSION });
	});

	test('after Retry from the list the first context is not told again, a second one is', async () => {
		const data = anExecution();
		const parameters = { sessionId: SESSION, context: 'yes' };
		const path = `/v1/chat/session/${SESSION}/inject_context`;
		service()
			.post(path)
			.times(2)
			.reply(200, { success: true, data: { session_id: SESSION, context: ['yes'] } });
		await (
			await toolOf('injectContext', parameters, {}, { data })
		)();
		const again = await toolOf('injectContext', parameters, {}, { data: stored(data) });
		expect([await again(), await again()]).toMatchObject([
			{ outcome: 'already_done' },
			{ outcome: 'done' },
		]);
	});

	test('a read is read each time, and a list comes as one answer', async () => {
		const tool = await toolOf('agents', { operation: 'getMany' });
		const agents = [
			{ agent_uuid: 'agent_a1', agent_name: 'A' },
			{ agent_uuid: 'agent_b2', agent_name: 'B' },
		];
		service().get('/v1/active_agents').reply(200, { success: true, data: agents });
		service().get('/v1/active_agents').reply(200, { success: true, data: [] });
		expect(told(await tool())).toMatchObject({ outcome: 'done', result: agents });
		expect(told(await tool())).toMatchObject({ outcome: 'done' });
	});

	test('a read that is rejected is told', async () => {
		const tool = await toolOf('getCall', { operation: 'get', callId: 'c-1' });
		service().get('/v1/call/c-1').reply(404, rejection('call_not_found'));
		expect(told(await tool())).toMatchObject({
			outcome: 'rejected',
			service_said: 'call_not_found',
		});
	});

	describe('Push Campaign Contacts', () => {
		const push = (row: IDataObject, parameters = {}) => {
			const call = route(harness.credentials, pushNode(harness, parameters), {
				row,
				data: anExecution(),
			});
			// Called by the agent, the tool's input is what the model passes.
			return async () => await call(row);
		};

		test('a row is pushed once, without what n8n adds to it', async () => {
			const bodies: unknown[] = [];
			service()
				.post(CONTACTS)
				.reply((_uri, body) => {
					bodies.push(body);
					return [200, accepted(1, { warnings: ['Campaign is paused'] })];
				});
			const tool = push({ phone: '9876543210', person_name: 'Asha', city: 'Pune' });
			expect(told(await tool())).toMatchObject({
				outcome: 'done',
				id: 501,
				service_said: 'Campaign is paused',
				result: { totals: { pushed: 1 }, rejected: [] },
			});
			expect(await tool()).toMatchObject({ outcome: 'already_done', id: 501 });
			const contacts = [{ person_name: 'Asha', phone: '9876543210', city: 'Pune' }];
			expect(bodies).toMatchObject([{ contacts }]);
			expect(JSON.stringify(bodies)).not.toContain('toolCallId');
		});

		test('a number that was pushed with other texts is told as done before', async () => {
			service().post(CONTACTS).reply(200, accepted(1));
			const parameters = pushNode(harness);
			const run = { data: anExecution() };
			const push = async (row: IDataObject) =>
				await route(harness.credentials, parameters, { ...run, row })(row);
			const row = { phone: '9876543210', person_name: 'Asha' };
			expect(await push(row)).toMatchObject({ outcome: 'done', id: 501 });
			const other = { ...row, person_name: 'Asha Rao' };
			expect(await push(other)).toMatchObject({ outcome: 'already_done', id: 501 });
		});

		test('a row that was rejected is sent when its texts are corrected', async () => {
			const bodies: unknown[] = [];
			service().post(CONTACTS).reply(400, rejection('contacts[0].person_name is too long'));
			service()
				.post(CONTACTS)
				.reply((_uri, body) => {
					bodies.push(body);
					return [200, accepted(1)];
				});
			const parameters = pushNode(harness);
			const run = { data: anExecution() };
			const push = async (row: IDataObject) =>
				await route(harness.credentials, parameters, { ...run, row })(row);
			const row = { phone: '9876543210', person_name: 'Asha Asha Asha' };
			expect(await push(row)).toMatchObject({ outcome: 'rejected' });
			expect(await push({ ...row, person_name: 'Asha' })).toMatchObject({ outcome: 'done' });
			expect(bodies).toMatchObject([{ contacts: [{ person_name: 'Asha' }] }]);
		});

		test.each<[string, [number, JsonObject]]>([
			['was skipped', [200, accepted(0, { dnd_skipped: [{ phone: '+919876543210' }] })]],
			['was rejected', [400, rejection('contacts[0] is not accepted')]],
		])(
			'a number that %s is sent again when it is wished again, and then no more',
			async (_how, answer) => {
				const tool = push({ phone: '9876543210' });
				service()
					.post(CONTACTS)
					.reply(...answer);
				service()
					.post(CONTACTS)
					.reply(200, accepted(1, { campaign_upload_id: 502 }));
				expect((await tool()).outcome).not.toBe('done');
				expect(told(await tool())).toMatchObject({
					outcome: 'done',
					id: 502,
					result: { totals: { pushed: 1, do_not_disturb: 0, rejected: 0 }, rejected: [] },
				});
				expect(await tool()).toMatchObject({ outcome: 'already_done', id: 502 });
			},
		);

		test('the same row with other options is another wish, unless the fate of the first is open', async () => {
			const bodies: unknown[] = [];
			const answers: Array<[number, JsonObject | string]> = [
				[200, accepted(1)],
				[200, accepted(1, { campaign_upload_id: 502 })],
				[502, ''],
			];
			for (const answer of answers) {
				service()
					.post(CONTACTS)
					.reply((_uri, body) => {
						bodies.push(body);
						return answer;
					});
			}
			const run = { data: anExecution() };
			const push = async (row: IDataObject, parameters: INodeParameters) =>
				await route(harness.credentials, pushNode(harness, parameters), { ...run, row })(row);
			const row = { phone: '9876543210', person_name: 'Asha' };
			const named = { ...row, person_name: 'Asha Rao' };
			const other = { phone: '9876543211' };
			const answered = [
				await push(row, { enqueue: false }),
				await push(row, { enqueue: true }),
				await push(named, { enqueue: true }),
				await push(other, { enqueue: false }),
				await push(other, { enqueue: true }),
			];
			expect(answered).toMatchObject([
				{ outcome: 'done', id: 501 },
				{ outcome: 'done', id: 502 },
				{ outcome: 'already_done', id: 502 },
				{ outcome: 'unknown' },
				{ outcome: 'unknown' },
			]);
			expect(bodies).toMatchObject([{ enqueue: false }, { enqueue: true }, { enqueue: false }]);
		});

		test('a row that cannot be used is no silence', async () => {
			expect(told(await push({ phone: '12' })())).toMatchObject({
				outcome: 'not_sent',
				next_step: expect.stringContaining('"12" has 2 digits'),
			});
		});

		test('a number that must not be called is no success', async () => {
			service()
				.post(CONTACTS)
				.reply(200, accepted(0, { dnd_skipped: [{ phone: '+919876543210' }] }));
			expect(told(await push({ phone: '9876543210' })())).toMatchObject({
				outcome: 'rejected',
				what_happened: expect.stringContaining('do-not-disturb list'),
			});
		});

		test('an open outcome is never pushed again', async () => {
			service().post(CONTACTS).reply(502, '');
			const tool = push({ phone: '9876543210' });
			expect(told(await tool())).toMatchObject({ outcome: 'unknown' });
			expect(await tool()).toMatchObject({ outcome: 'unknown' });
		});
	});
});

describe('a tool called for an MCP client', () => {
	test('one session does a wish once, another does it anew', async () => {
		const tool = await node('placeCall', CALL);
		acceptCalls(2);
		const outcomes = [];
		for (const session of ['one', 'one', 'two']) {
			const answer = await mcpTool(harness.credentials, tool, session)();
			outcomes.push(told(answer).outcome);
		}
		expect(outcomes).toEqual(['done', 'already_done', 'done']);
	});

	test('requests of one session at the same moment share one result', async () => {
		const tool = mcpTool(harness.credentials, await node('placeCall', CALL), 'three');
		acceptCalls(1);
		const answers = await Promise.all([tool(), tool(), tool()]);
		expect(answers.map(({ outcome }) => outcome)).toEqual(['done', 'already_done', 'already_done']);
	});

	test('where the session is not told, each request is a wish of its own', async () => {
		const tool = mcpTool(harness.credentials, await node('placeCall', CALL));
		acceptCalls(2);
		expect([await tool(), await tool()]).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }]);
	});

	test('of very many sessions the newest are known', async () => {
		const tool = await node('placeCall', CALL);
		const isDone = (stored: unknown): stored is { done: true } => stored !== undefined;
		const memoryOf = (session: number) =>
			new ExecutionStore(mcpContext(harness.credentials, tool, `many ${session}`), 'test', isDone);
		for (let session = 0; session < 500; session++) memoryOf(session).write({ done: true });
		expect(memoryOf(0).read()).toEqual({ done: true });
		memoryOf(500).write({ done: true });
		expect(memoryOf(0).read()).toEqual({ done: true });
		expect(memoryOf(1).read()).toBeUndefined();
	});
});

test('what was sent before something else went wrong stays done', async () => {
	const context = mcpContext(harness.credentials, await node('placeCall', CALL));
	const output = [{ json: { call_id: 'one' } }];
	const [[item] = []] = await runForModel(context, async () => {
		noteCompleted(context, { output, isReplay: false, repeatable: false });
		return await Promise.reject(
			new InvalidInput('The end cannot be read', forEveryone('Read it later.')),
		);
	});
	expect(told(item?.json ?? {})).toEqual({
		outcome: 'done',
		what_happened:
			'The call was placed and may go on. Its end was not seen in time. The end cannot be read.',
		next_step:
			'Read it later. Do not ask for the same again. It would be a second call. Read this one later by its ID.',
		id: 'one',
		service_said: null,
		result: { call_id: 'one' },
	});
});

test('what the model passes is not taken for a column of the row', async () => {
	const bodies = acceptCalls(1);
	const parameters = { ...CALL, phoneNumber: '={{ $json.phone }}' };
	const tool = inlineTool(harness.credentials, await node('placeCall', parameters), {
		row: { phone: '9876543210' },
	});
	await tool({ phone: '9123456780' });
	expect(bodies).toEqual([BODY]);
});
