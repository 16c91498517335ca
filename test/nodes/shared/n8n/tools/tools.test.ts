import type {
	ICredentialDataDecryptedObject,
	IDataObject,
	INodeCredentialsDetails,
	INodeParameters,
} from 'n8n-workflow';
import { openRecord } from '../../../../../nodes/shared/n8n/once/executionStore';
import { TOOL_LIMITS } from '../../../../../nodes/shared/n8n/tools/toolRun';
import {
	failureForModel,
	runForModel,
	type ToolResult,
} from '../../../../../nodes/shared/n8n/tools/toolResult';
import {
	type CompletedRequest,
	noteCompleted,
	noteReadOnly,
} from '../../../../../nodes/shared/n8n/tools/toolRun';
import type { JsonObject } from '../../../../../nodes/shared/json';
import {
	InvalidInput,
	NotSent,
	OutcomeUnknown,
	ServiceRejection,
} from '../../../../../nodes/shared/api/errors';
import { NO_ERROR_BODY } from '../../../../../nodes/shared/api/rejectionBody';
import {
	forEveryone,
	onScreenOnly,
	type Resolution,
} from '../../../../../nodes/shared/api/resolution';
import { CREDENTIAL } from '../../../../../nodes/shared/n8n/http/credential';
import {
	newExecutionData,
	engineHarness,
	engineTool,
	holdTimeouts,
	inlineTool,
	mcpContext,
	mcpTool,
	service,
	storedCopy,
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

	test('a call is placed once per agent run', async () => {
		const data = newExecutionData();
		const bodies = acceptCalls(2);
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
		expect(await second()).toMatchObject({ outcome: 'done' });
		expect(bodies).toEqual([BODY, BODY]);
	});

	test('a call with another greeting is another request', async () => {
		const bodies = acceptCalls(2);
		const initialGreeting = "={{ $fromAI('greeting') }}";
		const tool = await toolOf('placeCall', { ...CALL, initialGreeting });
		const greetings = ['Hello', 'Hello', 'Good morning'];
		const results: IDataObject[] = [];
		for (const greeting of greetings) results.push(await tool({ greeting }));
		expect(outcomesOf(results)).toEqual(['done', 'already_done', 'done']);
		expect(bodies.map((body) => body.initial_greeting)).toEqual(['Hello', 'Good morning']);
	});

	test('the latest support command of a session is not repeated', async () => {
		const parameters = { resource: 'session', operation: 'supportCommand', sessionId: SESSION };
		const tool = await toolOf('chatSession', { ...parameters, command: "={{ $fromAI('c') }}" });
		const sent = service()
			.post(/support/)
			.times(3)
			.reply(200, { success: true, data: {} });
		const results: IDataObject[] = [];
		for (const c of ['take_over', 'take_over', 'release', 'take_over'])
			results.push(await tool({ c }));
		expect(outcomesOf(results)).toEqual(['done', 'already_done', 'done', 'done']);
		expect(sent.isDone()).toBe(true);
	});

	test('two tools with the same request send it once', async () => {
		const data = newExecutionData();
		acceptCalls(1);
		const one = { ...(await node('placeCall', CALL)), name: 'One', id: 'one' };
		const other = { ...one, name: 'Other', id: 'other' };
		await route(one, { data })();
		expect(await route(other, { data })()).toMatchObject({
			outcome: 'already_done',
		});
	});

	test('a model may place 3 calls by default, and gets a message when the limit is used up', async () => {
		const data = newExecutionData();
		const parameters = { ...CALL, phoneNumber: "={{ $fromAI('phone') }}" };
		const tool = await toolOf('placeCall', parameters, {}, { data });
		const other = await toolOf('placeCall', parameters, {}, { data });
		expect(await tool({ phone: '12' + 'x' })).toMatchObject({ outcome: 'not_sent' });
		callsEndpoint().reply(400, rejection('phone_number is implausible'));
		expect(await tool({ phone: '9876543219' })).toMatchObject({ outcome: 'rejected' });
		callsEndpoint().reply(502, '');
		expect(await tool({ phone: '9876543218' })).toMatchObject({ outcome: 'unknown' });
		const bodies = acceptCalls(2);
		expect(await tool({ phone: '9876543210' })).toMatchObject({ outcome: 'done' });
		expect(await other({ phone: '9876543212' })).toMatchObject({ outcome: 'done' });
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
		expect(bodies).toHaveLength(2);
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
			what_happened: expect.stringContaining("'Maximum Calls per Agent Run' must be at least 1"),
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
			what_happened: 'The service rejected the call (number is on the do-not-disturb list).',
			next_step: expect.stringContaining('Request again only what you can correct.'),
			result: null,
		});
		expect(await tool()).toMatchObject({ outcome: 'done' });
	});

	test.each(['continueRegularOutput', 'stopWorkflow', undefined] as const)(
		'with On Error %s the model gets the same result',
		async (onError) => {
			const bad = { ...(await node('placeCall', { ...CALL, phoneNumber: 'n/a' })), onError };
			expect(checked(await route(bad)())).toMatchObject({
				outcome: 'not_sent',
				what_happened: `'Phone Number' "n/a" isn't a phone number.`,
			});
		},
	);

	test('an unusable credential is reported', async () => {
		const tool = await toolOf('placeCall', CALL, { apiToken: 'short' });
		expect(checked(await tool())).toMatchObject({
			outcome: 'not_sent',
			what_happened: expect.stringContaining('must have 16 characters (got 5)'),
		});
	});

	describe('an addition and a removal of the same number', () => {
		const toolsFor = async () => {
			const data = newExecutionData();
			const toolFor = async (operation: string, phone: string) =>
				await toolOf('dnd', { agentUuid: AGENT, phone, operation }, DETAILS, { data });
			return {
				add: await toolFor('add', '+919812345678'),
				remove: await toolFor('remove', '9812345678'),
			};
		};
		const acceptAddition = (ms = 0) =>
			service()
				.post(DND)
				.delay(ms)
				.reply(200, { success: true, data: { id: 7 } });
		const removal = () => service().delete(DND).query(true);

		test('can be requested again after each other', async () => {
			const { add, remove } = await toolsFor();
			for (let times = 0; times < 2; times++) acceptAddition();
			removal().reply(200, { success: true, message: 'Removed' });
			const results = [await add(), await add(), await remove(), await remove(), await add()];
			expect(outcomesOf(results)).toEqual([
				...['done', 'already_done', 'done', 'already_done', 'done'],
			]);
			expect(results[2]).toMatchObject({ result: { message: 'Removed' } });
		});

		test('at the same moment: the removal is sent between two additions', async () => {
			const { add, remove } = await toolsFor();
			acceptAddition(50);
			removal().reply(200, { success: true, message: 'Removed' });
			acceptAddition();
			const results = await Promise.all([add(), remove(), add()]);
			expect(outcomesOf(results)).toEqual(['done', 'done', 'done']);
		});

		test("at the same moment: a rejected removal doesn't repeat the addition", async () => {
			const { add, remove } = await toolsFor();
			acceptAddition();
			removal().delay(50).reply(422, rejection('Phone number not found on DND list'));
			const results = await Promise.all([add(), remove()]);
			results.push(await add());
			expect(outcomesOf(results)).toEqual(['done', 'rejected', 'already_done']);
		});

		test('at the same moment: no removal is sent if the addition takes until the time limit', async () => {
			const pass = holdTimeouts();
			const { add, remove } = await toolsFor();
			service()
				.post(DND)
				.reply(async () => {
					pass(TOOL_LIMITS.wholeMs);
					return await new Promise<[number]>(() => {});
				});
			const results = await Promise.all([add(), remove()]);
			expect(outcomesOf(results)).toEqual(['unknown', 'not_sent']);
		});
	});

	test('a context may be injected twice, unless the first outcome is unknown', async () => {
		const tool = await toolOf('injectContext', { sessionId: SESSION, context: 'yes' });
		const path = `/v1/chat/session/${SESSION}/inject_context`;
		const data = { session_id: SESSION, context: ['yes'] };
		service().post(path).times(2).reply(200, { success: true, data });
		service().post(path).reply(502, '');
		const results = [await tool(), await tool(), await tool(), await tool()];
		expect(outcomesOf(results)).toEqual(['done', 'done', 'unknown', 'unknown']);
		expect(results[0]).toMatchObject({
			result: { session_id: SESSION },
			next_step:
				'Continue with the result. You can send another request. Repeating this one would do it a second time.',
		});
	});

	test('after Retry, the first context is not injected again, and a second one is', async () => {
		const data = newExecutionData();
		const parameters = { sessionId: SESSION, context: 'yes' };
		const path = `/v1/chat/session/${SESSION}/inject_context`;
		service()
			.post(path)
			.times(2)
			.reply(200, { success: true, data: { session_id: SESSION, context: ['yes'] } });
		await (
			await toolOf('injectContext', parameters, {}, { data })
		)();
		const again = await toolOf('injectContext', parameters, {}, { data: storedCopy(data) });
		expect([await again(), await again()]).toMatchObject([
			{ outcome: 'already_done' },
			{ outcome: 'done' },
		]);
	});

	test('a read is repeated each time, and a list is one result', async () => {
		const tool = await toolOf('agents', { operation: 'getMany' });
		const agents = [
			{ agent_uuid: 'agent_a1', agent_name: 'A' },
			{ agent_uuid: 'agent_b2', agent_name: 'B' },
		];
		service().get('/v1/active_agents').reply(200, { success: true, data: agents });
		service().get('/v1/active_agents').reply(200, { success: true, data: [] });
		expect(checked(await tool())).toMatchObject({ outcome: 'done', result: agents });
		expect(checked(await tool())).toMatchObject({ outcome: 'done' });
	});

	describe('Push Campaign Contacts', () => {
		/** Pushes rows in one agent run. */
		const pushInRun = () => {
			const data = newExecutionData();
			return async (row: IDataObject, parameters: INodeParameters = {}) =>
				await route(pushNode(parameters), { row, data })();
		};
		/** The bodies of requests, which get these responses one after another. */
		const respondWith = (...responses: Array<[number, JsonObject | string]>) => {
			const bodies: unknown[] = [];
			for (const response of responses) {
				service()
					.post(CONTACTS)
					.reply((_uri, body) => {
						bodies.push(body);
						return response;
					});
			}
			return bodies;
		};
		const row = { phone: '9876543210', person_name: 'Asha' };
		const IN_CAMPAIGN = { phone: row.phone, rejection_status: 'duplicate' };

		test('a row is sent again with corrected texts after a rejection, but not after it was pushed', async () => {
			const bodies = respondWith(
				[400, rejection('contacts[0].person_name is too long')],
				[200, accepted(1)],
			);
			const push = pushInRun();
			const results = [];
			for (const name of ['Asha Asha Asha', 'Asha', 'Asha Rao']) {
				results.push(await push({ ...row, person_name: name }));
			}
			expect(outcomesOf(results)).toEqual(['rejected', 'done', 'already_done']);
			expect(results[2]).toMatchObject({ result: { rejected: [IN_CAMPAIGN] } });
			expect(bodies[1]).toMatchObject({ contacts: [{ person_name: 'Asha' }] });
		});

		test('the same row with other options is another request, unless the first outcome is unknown', async () => {
			const bodies = respondWith(
				[200, accepted(1)],
				[200, accepted(1, { campaign_upload_id: 502 })],
				[502, ''],
			);
			const push = pushInRun();
			const other = { phone: '9876543211' };
			const results = [
				await push(row, { whatToDo: 'wait' }),
				await push(row, { whatToDo: 'release' }),
				await push({ ...row, person_name: 'Asha Rao' }, { whatToDo: 'release' }),
				await push(other, { whatToDo: 'wait' }),
				await push(other, { whatToDo: 'release' }),
			];
			expect(results).toMatchObject([
				{ outcome: 'done', result: { campaign_upload_id: 501 } },
				{ outcome: 'done', result: { campaign_upload_id: 502 } },
				{ outcome: 'already_done', result: { rejected: [IN_CAMPAIGN] } },
				{ outcome: 'unknown' },
				{ outcome: 'unknown' },
			]);
			expect(bodies).toMatchObject([{ enqueue: false }, { enqueue: true }, { enqueue: false }]);
		});
	});
});

describe('a tool of an MCP client', () => {
	test('a request is sent once per session', async () => {
		const tool = await node('placeCall', CALL);
		acceptCalls(2);
		const outcomes = [];
		for (const session of ['one', 'one', 'two']) {
			const result = await mcpTool(tool, session)();
			outcomes.push(checked(result).outcome);
		}
		expect(outcomes).toEqual(['done', 'already_done', 'done']);
	});

	test('simultaneous requests of one session share one result', async () => {
		const tool = mcpTool(await node('placeCall', CALL), 'three');
		acceptCalls(1);
		const results = await Promise.all([tool(), tool(), tool()]);
		expect(outcomesOf(results)).toEqual(['done', 'already_done', 'already_done']);
	});

	test('without a session ID, each request is sent', async () => {
		const tool = mcpTool(await node('placeCall', CALL));
		acceptCalls(2);
		expect([await tool(), await tool()]).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }]);
	});

	test('the newest of many sessions are remembered', async () => {
		const tool = await node('placeCall', CALL);
		const isDone = (stored: unknown): stored is { done?: true } => stored !== undefined;
		const recordOf = (session: number) =>
			openRecord(mcpContext(tool, `many ${session}`), 'test', isDone, {});
		for (let session = 0; session < 500; session++) recordOf(session).done = true;
		expect(recordOf(0)).toEqual({ done: true });
		recordOf(500).done = true;
		expect(recordOf(0)).toEqual({ done: true });
		expect(recordOf(1)).toEqual({});
	});
});

test('a completed request stays done after a later failure', async () => {
	const context = mcpContext(await node('placeCall', CALL));
	const output = [{ json: { call_id: 'one', warnings: [] } }];
	const [[item] = []] = await runForModel(context, async () => {
		noteCompleted(context, { output, happened: '', isReplay: false, repeatable: false });
		return await Promise.reject(
			new InvalidInput('The end cannot be read', forEveryone('Read it later.')),
		);
	});
	expect(item?.pairedItem).toEqual({ item: 0 });
	expect(checked(item?.json ?? {})).toEqual({
		outcome: 'done',
		what_happened:
			'The call was placed and may still be in progress. Its end was not confirmed in time. The end cannot be read.',
		next_step:
			'Read it later. Do not repeat this request. It would place a second call. Read this call later by its ID.',
		result: { call_id: 'one', warnings: [] },
	});
});

const CHECK = forEveryone('Check the ID.');
const ON_SCREEN = onScreenOnly('Change the setting.');
const invalid = (resolution: Resolution) => new InvalidInput('Wrong', resolution);
const rejected = (resolution: Resolution, mayPass = false) =>
	new ServiceRejection(
		{ message: 'Rejected', resolution, isTransient: mayPass },
		'No',
		404,
		NO_ERROR_BODY,
	);
const unknown = new OutcomeUnknown('No response', ON_SCREEN);
const OWNER =
	'Tell the user you are chatting with that the person who set up this tool must fix this.';
const LATER = 'Wait for a minute, or as long as the service asks, then repeat what was not done.';

test.each<[kind: 'read' | 'change', error: Error, outcome: string, next: string]>([
	[
		'read',
		rejected(CHECK),
		'rejected',
		'Check the ID. Nothing was done. Request again only what you can correct.',
	],
	['read', invalid(ON_SCREEN), 'not_sent', `Nothing was done. ${OWNER}`],
	['read', unknown, 'not_read', `Nothing was done. ${LATER}`],
	[
		'change',
		rejected(CHECK),
		'rejected',
		'Check the ID. Nothing was done. Request again only what you can correct.',
	],
	['change', rejected(ON_SCREEN, true), 'rejected', `Nothing was done. ${LATER}`],
	['change', rejected(ON_SCREEN), 'rejected', `Nothing was done. ${OWNER}`],
	['change', new Error('No credential'), 'not_sent', `Nothing was done. ${OWNER}`],
	[
		'change',
		invalid(CHECK),
		'not_sent',
		'Check the ID. Nothing was done. Request again only what you can correct.',
	],
	[
		'change',
		unknown,
		'unknown',
		'Do not repeat this request. It may have taken effect. Tell the user you are chatting with that the outcome is unknown.',
	],
])('a %s that fails with %p has the outcome %s', async (kind, error, outcome, next) => {
	const context = mcpContext(await node('placeCall', CALL));
	const [[item] = []] = await runForModel(context, async () => {
		if (kind === 'read') noteReadOnly(context);
		return await Promise.reject(error);
	});
	expect(item?.json).toMatchObject({ outcome, next_step: next });
});

test.each<[string, Partial<CompletedRequest>, IDataObject, Error, Partial<ToolResult>]>([
	[
		'of a push with an unknown rest',
		{ isPartial: true },
		{},
		unknown,
		{ outcome: 'unknown', next_step: expect.stringContaining('the outcome is unknown.') },
	],
	[
		'of a push whose rest only the owner can fix',
		{ isPartial: true },
		{},
		invalid(ON_SCREEN),
		{ outcome: 'partly_done', next_step: expect.stringContaining(OWNER) },
	],
	[
		'of an earlier call',
		{ isReplay: true },
		{ call_id: 'one' },
		invalid(CHECK),
		{
			outcome: 'already_done',
			what_happened: expect.stringContaining('placed before, and was not placed again.'),
		},
	],
	[
		'of an earlier message',
		{ isReplay: true },
		{},
		invalid(CHECK),
		{ outcome: 'already_done', what_happened: expect.stringContaining('was sent before.') },
	],
])('a failure after the completion %s', async (_what, completed, json, error, expected) => {
	const context = mcpContext(await node('placeCall', CALL));
	const [[item] = []] = await runForModel(context, async () => {
		const output = [{ json }];
		const request = { output, happened: '', isReplay: false, repeatable: false };
		noteCompleted(context, { ...request, ...completed });
		return await Promise.reject(error);
	});
	expect(checked(item?.json ?? {})).toMatchObject(expected);
});

test.each([
	[ON_SCREEN, ['Wrong. Change the setting.']],
	[CHECK, []],
])(
	'advice only for the person who set up the tool is a hint of the execution: %j',
	async (...one) => {
		const [resolution, messages] = one;
		const context = mcpContext(await node('placeCall', CALL));
		const hints = jest.spyOn(context, 'addExecutionHints');
		await runForModel(context, async () => await Promise.reject(invalid(resolution)));
		expect(hints.mock.calls).toEqual(messages.map((message) => [{ message }]));
	},
);

test('the reason why a person was not asked has the advice for a model', () => {
	const context = mcpContext(harness.node('placeCall'));
	const reasonForModel = (error: unknown) => failureForModel(context, error);
	expect(reasonForModel(unknown)).toBe('No response.');
	expect(reasonForModel(rejected(CHECK))).toBe('Rejected (No). Check the ID.');
	expect(reasonForModel(invalid(ON_SCREEN))).toBe(`Wrong. ${OWNER}`);
	const more = { originalMessage: 'SQLITE_BUSY', isTransient: false, origin: 'n8n' } as const;
	expect(reasonForModel(new NotSent('Not sent', CHECK, more))).toBe(
		'Not sent (SQLITE_BUSY). Check the ID.',
	);
});

test('values from the model are not read as columns of the row', async () => {
	const bodies = acceptCalls(1);
	const parameters = { ...CALL, phoneNumber: '={{ $json.phone }}' };
	const tool = inlineTool(await node('placeCall', parameters), {
		row: { phone: '9876543210' },
	});
	await tool({ phone: '9123456780' });
	expect(bodies).toEqual([BODY]);
});
