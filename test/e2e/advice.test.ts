import type { INode, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { until } from '../n8n/until';
import { condition, byId, chain, executeSub, node, subTrigger, type Arrow } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount } from './account';
import { executionsOf } from './calls';
import { executeFlow, flowOnRows } from './rowRun';

/** What the docs, notices, and messages advise, as a person would do it. */
const account = useAccount({ isMapped: true });
const { n8n, simulator, ours, placeCall, publish, start } = account;

afterEach(async () => {
	await account.removeWorkflows();
	simulator.reset();
});

const ASHA = '9876543210';
const BELA = '9876543211';
const callsTo = (phone: string) => simulator.callsTo(`+91${phone}`);
const LIMIT = { callLimit: 'day', maximumCalls: 1 };
const { active, draft } = fixtures.campaigns;
const contactsOf = (campaign: number) => simulator.contactsOf(campaign).map(({ phone }) => phone);

const raw = z.object({
	uploads: z.array(z.object({ created_at: z.string(), queues: z.array(z.unknown()) })),
});

const push = (parameters: INodeParameters = {}) =>
	ours('Push', 'pushCampaignContacts', {
		campaignId: byId(active),
		agentUuid: byId(fixtures.agents.full),
		whatToDo: 'wait',
		...parameters,
	});
const ROWS_TO_CALL: Arrow[] = [['Rows', 'Place Call']];

test('Limit Calls per Person stops a workflow that calls again when a call is completed', async () => {
	const { workflow, url } = await account.publishReported({}, (webhookUrl) =>
		placeCall({ phoneNumber: ASHA, ...LIMIT, options: { webhookUrl } }),
	);
	simulator.setAutoComplete({ afterMs: 0, outcome: { status: 'not_picked' } });
	// The first call is from another workflow, where the limit counts for itself.
	const first = placeCall({ ...LIMIT, options: { webhookUrl: url } });
	await executeFlow(account, flowOnRows([{ phone: ASHA }], [first], ROWS_TO_CALL));
	// The first call starts the workflow, and so does the one that it places.
	const items = await executionsOf(n8n, workflow, 'Place Call', 2);
	expect(items.map(({ json }) => json.not_placed_reason ?? 'placed').sort()).toEqual([
		'call_limit_reached',
		'placed',
	]);
	expect(callsTo(ASHA)).toBe(2);
});

test('Edit Fields joins the first and the last name of a row for a push', async () => {
	const join = node('Edit Fields', 'n8n-nodes-base.set', 3.4, {
		includeOtherFields: true,
		assignments: {
			assignments: [
				{
					id: '1',
					name: 'name',
					value: '={{ $json.first_name }} {{ $json.last_name }}',
					type: 'string',
				},
			],
		},
	});
	const rows = [{ phone: ASHA, first_name: 'Asha', last_name: 'Rao' }];
	const arrows: Arrow[] = [
		['Rows', 'Edit Fields'],
		['Edit Fields', 'Push'],
	];
	const { error } = await executeFlow(account, flowOnRows(rows, [join, push()], arrows));
	expect(error).toBeUndefined();
	expect(contactsOf(active)).toEqual([`+91${ASHA}`]);
	expect(simulator.requests.map(({ body }) => body)).toContainEqual(
		expect.objectContaining({
			contacts: [expect.objectContaining({ person_name: 'Asha Rao' })],
		}),
	);
});

test('a pinned Place Call calls nobody when a later node is executed', async () => {
	const last = node('Last', 'n8n-nodes-base.noOp', 1);
	const flow = flowOnRows(
		[{ phone: ASHA }],
		[placeCall(), last],
		[...ROWS_TO_CALL, ['Place Call', 'Last']],
	);
	const pinned = [{ json: { call_id: 'pinned' } }];
	const { runs } = await executeFlow(account, { ...flow, pinData: { 'Place Call': pinned } });
	expect(runs('Last')).toEqual([[[{ call_id: 'pinned' }]]]);
	expect(callsTo(ASHA)).toBe(0);
});

test('after an unknown outcome, On Error > Continue and Retry call each of the others once', async () => {
	const people = ['9000000001', '9000000002', '9000000003'];
	simulator.faults.inject({ kind: 'resetAfter', match: { path: '/v1/call' }, skip: 1, times: 1 });
	const { id, workflow, nodes } = await start(people, [placeCall()]);
	const failed = await n8n.finished(id);
	const { error } = await n8n.runData(failed.id);
	expect(error?.description).toMatch(
		/set 'On Error' in 'Settings' to 'Continue', save the workflow, and choose 'Retry with currently saved workflow'/,
	);
	const onError = 'continueRegularOutput' as const;
	const changed = nodes.map((one) => (one.name === 'Place Call' ? { ...one, onError } : one));
	await n8n.updateWorkflow(workflow, { nodes: changed });
	const again = await n8n.retry(failed.id, 'current');
	expect(again.status).toBe('success');
	expect(people.map((phone) => simulator.callsTo(phone))).toEqual([1, 1, 1]);
});

test('an expression in a field set to Fixed stops the node, and Expression says the name', async () => {
	const greet = async (initialGreeting: string) => {
		const rows = [{ phone: ASHA, name: 'Asha' }];
		const flow = flowOnRows(rows, [placeCall({ options: { initialGreeting } })], ROWS_TO_CALL);
		return (await executeFlow(account, flow)).error;
	};
	const text = 'Hello {{ $json.name }}, this is Priya.';
	expect(await greet(text)).toMatchObject({
		message: `'Initial Greeting' has "{{ $json.name }}", but the field is set to Fixed`,
		description: expect.stringMatching(/^In n8n, choose Expression above the field\./),
	});
	expect(callsTo(ASHA)).toBe(0);
	expect(await greet(`=${text}`)).toBeUndefined();
	expect(simulator.placedCalls().map(({ request }) => request?.initial_greeting)).toEqual([
		'Hello Asha, this is Priya.',
	]);
});

test('dates of expressions are taken as the messages write them', async () => {
	const scheduled = async (parameters: INodeParameters) => {
		simulator.reset();
		const rows = [{ phone: ASHA, time: '18:30' }];
		const flow = flowOnRows(rows, [placeCall(parameters)], ROWS_TO_CALL);
		expect((await executeFlow(account, flow)).error).toBeUndefined();
		return simulator.placedCalls().map(({ request }) => request?.scheduled_at);
	};
	const parsed = "DateTime.fromFormat($json.time, 'HH:mm')";
	expect(
		await scheduled({ when: 'timeOfDay', scheduledTime: `={{ ${parsed}.toFormat("HH:mm") }}` }),
	).toEqual(['18:30']);
	const tomorrow = "={{ $now.setZone('Asia/Kolkata').plus({ days: 1 }) }}";
	const dated = [expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\+05:30$/)];
	expect(await scheduled({ when: 'dateTime', scheduledAt: tomorrow })).toEqual(dated);
	const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
	const hours = {
		...{ callingHours: 'within', callingDays: days, callingUntil: '24:00' },
		timeZone: 'Asia/Kolkata',
		callingFrom: `={{ DateTime.fromFormat('0:00', 'H:mm').toFormat("HH:mm") }}`,
	};
	expect(await scheduled(hours)).toEqual([undefined]);
});

test("DateTime.fromFormat reads the date of a sheet in the workflow's time zone", async () => {
	const scheduledAt = "={{ DateTime.fromFormat($json.date, 'dd/MM/yyyy HH:mm') }}";
	const flow = flowOnRows(
		[{ phone: ASHA, date: '31/01/2040 18:30' }],
		[placeCall({ when: 'dateTime', scheduledAt })],
		ROWS_TO_CALL,
	);
	await executeFlow(account, { ...flow, settings: { timezone: 'Pacific/Auckland' } });
	const [request] = simulator.placedCalls().map((call) => call.request);
	expect(request?.scheduled_at).toBe('2040-01-31T18:30:00+13:00');
});

test('a filter with the dates of holidays calls nobody on these days', async () => {
	const filter = (name: string, days: string): INode =>
		node(
			name,
			'n8n-nodes-base.filter',
			2.2,
			condition(`={{ [${days}].includes($now.toISODate()) }}`, 'is false'),
		);
	const executeWith = async (days: string) =>
		await executeFlow(
			account,
			flowOnRows(
				[{ phone: ASHA }],
				[filter('Filter', days), placeCall()],
				[
					['Rows', 'Filter'],
					['Filter', 'Place Call'],
				],
			),
		);
	await executeWith('"2020-01-26", $now.toISODate()');
	expect(callsTo(ASHA)).toBe(0);
	await executeWith('"2020-01-26"');
	expect(callsTo(ASHA)).toBe(1);
});

describe('a push', () => {
	it('of rows for several campaigns is split with a Switch node', async () => {
		const rule = (campaign: number) => condition('={{ $json.campaign }}', 'equals', campaign);
		const rules = { values: [rule(active), rule(draft)] };
		const split = node('Switch', 'n8n-nodes-base.switch', 3.2, { rules, options: {} });
		const rows = [
			{ phone: ASHA, campaign: active },
			{ phone: BELA, campaign: draft },
			{ phone: ASHA, campaign: draft },
		];
		const { error } = await executeFlow(
			account,
			flowOnRows(
				rows,
				[split, push({ campaignId: '={{ $json.campaign }}' })],
				[
					['Rows', 'Switch'],
					['Switch', 'Push', 'main', 0],
					['Switch', 'Push', 'main', 1],
				],
			),
		);
		expect(error).toBeUndefined();
		expect(contactsOf(active)).toEqual([`+91${ASHA}`]);
		expect(contactsOf(draft)).toEqual([`+91${BELA}`, `+91${ASHA}`]);
	});

	it('at the end of a sub-workflow passes on only Pushed', async () => {
		const sub = await publish(chain('pushes', subTrigger(), push()));
		const next = node('Next', 'n8n-nodes-base.noOp', 1);
		const { runs } = await executeFlow(
			account,
			flowOnRows(
				[{ phone: ASHA }, { phone: 'bad' }],
				[executeSub(sub.id, 'once'), next],
				[
					['Rows', 'Execute'],
					['Execute', 'Next'],
				],
			),
		);
		expect(runs('Next')).toEqual([[[expect.objectContaining({ push_status: 'pushed' })]]]);
	});

	it('whose Phone Column has the number of a row instead of a name pushes nothing', async () => {
		const { error } = await executeFlow(
			account,
			flowOnRows(
				[{ phone: ASHA }],
				[push({ phoneColumn: '={{ $json.phone }}' })],
				[['Rows', 'Push']],
			),
		);
		expect(error?.message).toBe(`The input has no column "${ASHA}", so nothing was sent`);
		expect(contactsOf(active)).toEqual([]);
	});

	it.each([
		['release', [{ total_queued: 2 }]],
		['wait', []],
	])(
		'whose outcome is unknown, with What to Do %j, is found in Campaign Status, with the queues %j in the output Raw',
		async (whatToDo, queues) => {
			simulator.faults.inject({ kind: 'resetAfter', match: { method: 'POST' }, times: 1 });
			// created_at has whole seconds.
			const before = Date.now() - 1_000;
			const { error } = await executeFlow(
				account,
				flowOnRows(
					[{ phone: ASHA }, { phone: BELA }],
					[push({ whatToDo, personNameColumn: '' })],
					[['Rows', 'Push']],
				),
			);
			expect(error?.description).toContain("Campaign Status, with 'Output' set to 'Raw'");
			const parameters = { campaignId: byId(active), output: 'raw' };
			const status = ours('Status', 'campaignStatus', parameters);
			const flow = flowOnRows([{}], [status], [['Rows', 'Status']]);
			const { uploads } = raw.parse((await executeFlow(account, flow)).runs('Status')[0]?.[0]?.[0]);
			const sent = uploads.filter(({ created_at: at }) => Date.parse(at) >= before);
			expect(sent).toMatchObject([{ queues }]);
		},
	);
});

describe('a sub-workflow', () => {
	it.each(['each', 'once'] as const)(
		'that waits for its calls returns all of them if it runs with mode %s',
		async (mode) => {
			const waits = placeCall({ options: { waitMinutes: 60 } });
			const sub = await publish(chain('waits', subTrigger(), waits));
			simulator.setAutoComplete({ afterMs: 0 });
			const flow = flowOnRows(
				[{ phone: ASHA }, { phone: BELA }],
				[executeSub(sub.id, mode)],
				[['Rows', 'Execute']],
			);
			const { runs } = await executeFlow(account, flow);
			const [items = []] = runs('Execute')[0] ?? [];
			expect(items).toMatchObject(
				simulator.placedCalls().map(({ callId }) => ({ call_id: callId, outcome: 'Answered' })),
			);
			expect(items).toHaveLength(2);
		},
	);

	it('with Retry On Fail of Execute Sub-workflow, calls a person once', async () => {
		const fails = node('Fails', 'n8n-nodes-base.stopAndError', 1, { errorMessage: 'Down' });
		const sub = await publish(chain('fails', subTrigger(), placeCall(), fails));
		const again = { retryOnFail: true, maxTries: 2, waitBetweenTries: 100 };
		const flow = flowOnRows(
			[{ phone: ASHA }],
			[{ ...executeSub(sub.id, 'once'), ...again }],
			[['Rows', 'Execute']],
		);
		await executeFlow(account, flow);
		expect(callsTo(ASHA)).toBe(1);
	});
});

test.each([
	['Stop of a parent does not stop its sub-workflow', 'parent', 2],
	['Stop of the sub-workflow ends both', 'sub', 1],
] as const)('%s', async (_what, stopped, called) => {
	const sub = await publish(chain('calls', subTrigger(), placeCall()));
	const release = simulator.holdResponses(/^\/v1\/call$/);
	const { id } = await start([ASHA, BELA], [executeSub(sub.id)]);
	await until('the first call', () => simulator.placedCalls().length === 1);
	const subId = await account.executionOf(sub);
	await n8n.request('POST', `/executions/${stopped === 'parent' ? id : subId}/stop`);
	release();
	expect(await n8n.finished(id)).toMatchObject({ status: 'canceled' });
	await until('the calls', () => simulator.placedCalls().length === called);
	const subStatus = stopped === 'parent' ? 'success' : 'canceled';
	expect(await n8n.finished(subId)).toMatchObject({ status: subStatus });
	expect(simulator.placedCalls()).toHaveLength(called);
});

test('the condition for people who were not reached passes no call in progress and no item without a call', async () => {
	const unreached = { outcome: 'Not answered' };
	const inProgress = [{ outcome: 'Answered' }, { outcome: 'ringing' }, { outcome: null }];
	const rows = [unreached, ...inProgress, { placed: false }];
	const conditions = condition('={{ $json.outcome }}', 'equals', 'Not answered');
	const filter = node('Filter', 'n8n-nodes-base.filter', 2.2, conditions);
	const { runs } = await executeFlow(account, flowOnRows(rows, [filter], [['Rows', 'Filter']]));
	expect(runs('Filter')[0]?.[0]).toEqual([unreached]);
});
