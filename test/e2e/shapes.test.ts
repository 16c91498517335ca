import type { IDataObject, INode, INodeParameters } from 'n8n-workflow';
import { condition, byId, node } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount } from './account';
import type { Arrow } from './callingAgent';
import { answerQuestions, APPROVER } from './questions';
import { executeFlow, flowOnRows } from './rowRun';

/** n8n runs a node once for each connected output before it, and once more in each round of a loop. */
describe('in workflows whose branches meet', () => {
	const account = useAccount({ isMapped: true });
	const { n8n, simulator, ours, placeCall } = account;
	afterEach(async () => {
		await account.removeWorkflows();
		simulator.reset();
	});

	const ASHA = { phone: '9876543210', vip: true };
	const ASHA_AGAIN = { phone: '+91 98765 43210', vip: false };
	const BELA = { phone: '9876543211', vip: false };
	const MANAGER = '9800000001';
	const AGENT = { agentUuid: byId(fixtures.agents.full) };

	const isVip = node('IF', 'n8n-nodes-base.if', 2.2, condition('={{ $json.vip }}', 'is true'));
	const inFirstRuns = (count: number) => condition('={{ $runIndex }}', 'is less than', count);
	const pass = (name: string) => node(name, 'n8n-nodes-base.noOp', 1);
	const merge = (name: string) => node(name, 'n8n-nodes-base.merge', 3.2, {});
	const loop = (batchSize: number) =>
		node('Loop', 'n8n-nodes-base.splitInBatches', 3, { batchSize, options: {} });
	const push = (parameters: INodeParameters = {}, rest: Partial<INode> = {}) =>
		ours(
			'Push',
			'pushCampaignContacts',
			{ ...AGENT, campaignId: byId(fixtures.campaigns.active), whatToDo: 'wait', ...parameters },
			rest,
		);
	const manager = () => ({ ...placeCall({ phoneNumber: MANAGER }), name: 'Manager' });

	async function execute(rows: IDataObject[], nodes: INode[], arrows: Arrow[]) {
		const executed = await executeFlow(account, flowOnRows(rows, nodes, arrows));
		expect(executed.error).toBeUndefined();
		return executed;
	}
	const callsTo = (phone: string) => simulator.callsTo(`+91${phone}`);

	test.each<[string, INode[], Arrow[]]>([
		[
			'both outputs of an IF node',
			[isVip],
			[
				['Rows', 'IF'],
				['IF', 'Place Call', 'main', 0],
				['IF', 'Place Call', 'main', 1],
			],
		],
		[
			'both outputs of an IF node through one node',
			[isVip, pass('Both')],
			[
				['Rows', 'IF'],
				['IF', 'Both', 'main', 0],
				['IF', 'Both', 'main', 1],
				['Both', 'Place Call'],
			],
		],
		[
			'a node in each branch',
			[isVip, pass('Vip'), pass('Others')],
			[
				['Rows', 'IF'],
				['IF', 'Vip', 'main', 0],
				['IF', 'Others', 'main', 1],
				['Vip', 'Place Call'],
				['Others', 'Place Call'],
			],
		],
		[
			'a Merge node',
			[isVip, merge('Both')],
			[
				['Rows', 'IF'],
				['IF', 'Both', 'main', 0],
				['IF', 'Place Call', 'main', 1],
				['Both', 'Place Call'],
			],
		],
	])('each person is called once through %s', async (_how, nodes, arrows) => {
		const rows = [ASHA, ASHA_AGAIN, BELA];
		const { runs } = await execute(rows, [...nodes, placeCall()], arrows);
		expect([callsTo('9876543210'), callsTo('9876543211')]).toEqual([1, 1]);
		const items = runs('Place Call').flatMap(([main = []]) => main);
		expect(items.filter(({ placed }) => placed === false)).toMatchObject([
			{ not_placed_reason: 'duplicate_number' },
		]);
	});

	test('each person is called once through the output and the error output of a node', async () => {
		const check = ours(
			'Check',
			'dnd',
			{ operation: 'check', ...AGENT, phone: '={{ $json.dnd }}' },
			{ onError: 'continueErrorOutput' },
		);
		const rows = [
			{ ...ASHA, dnd: '9876543210' },
			{ ...ASHA_AGAIN, dnd: 'unusable' },
		];
		const phoneNumber = "={{ $('Rows').item.json.phone }}";
		await execute(
			rows,
			[check, placeCall({ phoneNumber })],
			[
				['Rows', 'Check'],
				['Check', 'Place Call', 'main', 0],
				['Check', 'Place Call', 'main', 1],
			],
		);
		expect(callsTo('9876543210')).toBe(1);
	});

	const LOOP: Arrow[] = [
		['Rows', 'Loop'],
		['Loop', 'Manager', 'main', 0],
	];

	test('a loop into which both outputs of a push lead calls a person after it once', async () => {
		const rows = [{ phone: '9876543210' }, { phone: 'bad' }];
		await execute(
			rows,
			[loop(2), push(), manager()],
			[
				...LOOP,
				['Loop', 'Push', 'main', 1],
				['Push', 'Loop', 'main', 0],
				['Push', 'Loop', 'main', 1],
			],
		);
		expect(callsTo(MANAGER)).toBe(1);
	});

	test('a loop into which both outputs of Place Call lead calls a person after it once', async () => {
		const rows = [{ phone: '9876543210' }, { phone: 'bad' }, { phone: '9876543211' }];
		await execute(
			rows,
			[loop(2), { ...placeCall(), onError: 'continueErrorOutput' }, manager()],
			[
				...LOOP,
				['Loop', 'Place Call', 'main', 1],
				['Place Call', 'Loop', 'main', 0],
				['Place Call', 'Loop', 'main', 1],
			],
		);
		expect([callsTo('9876543210'), callsTo('9876543211'), callsTo(MANAGER)]).toEqual([1, 1, 1]);
	});

	test.each([
		['round of a loop', 'Place Call', 1],
		['Place Call', 'Second', 0],
	])(
		'a person who may have been called is not called by the next %s, which says so',
		async (_which, next, run) => {
			simulator.faults.inject({ kind: 'resetAfter', match: { path: '/v1/call' }, times: 1 });
			const call = () => ({ ...placeCall(), onError: 'continueErrorOutput' as const });
			const nodes = [
				call(),
				node('IF', 'n8n-nodes-base.if', 2.2, inFirstRuns(2)),
				{ ...call(), name: 'Second' },
			];
			const { runs } = await execute([ASHA], nodes, [
				['Rows', 'Place Call'],
				['Place Call', 'IF', 'main', 1],
				['IF', next, 'main', 0],
			]);
			expect(callsTo('9876543210')).toBe(1);
			expect(runs(next)[run]?.[1]).toMatchObject([
				{
					error:
						"This execution may have called the number before, so it wasn't called again (call to 9876543210, IN)",
					message: expect.stringMatching(/look for 9876543210 in the calls of your account/),
					details: { outcome: 'unknown' },
				},
			]);
		},
	);

	test.each([
		['directly', []],
		['through a node in each branch', ['Vip', 'Others']],
		['through one node', ['Both', 'Both']],
	])(
		'in a loop, both branches of an IF node call a person once in each round, %s',
		async (_how, [vip = 'Place Call', others = 'Place Call']) => {
			const rows = [ASHA, ASHA_AGAIN, ASHA, ASHA_AGAIN];
			const between = [...new Set([vip, others])].filter((name) => name !== 'Place Call');
			await execute(
				rows,
				[loop(2), isVip, ...between.map(pass), placeCall()],
				[
					['Rows', 'Loop'],
					['Loop', 'IF', 'main', 1],
					['IF', vip, 'main', 0],
					['IF', others, 'main', 1],
					...between.map((name): Arrow => [name, 'Place Call']),
					['Place Call', 'Loop'],
				],
			);
			expect(callsTo('9876543210')).toBe(2);
		},
	);

	test.each<[number, INodeParameters]>([
		[3, {}],
		[1, { callLimit: 'day', maximumCalls: 1 }],
	])(
		'a loop that comes back to Place Call twice calls a person %i times with %j',
		async (times, limit) => {
			const isFirst = node('IF', 'n8n-nodes-base.if', 2.2, inFirstRuns(2));
			const { runs } = await execute(
				[ASHA],
				[placeCall(limit), isFirst],
				[
					['Rows', 'Place Call'],
					['Place Call', 'IF'],
					['IF', 'Place Call', 'main', 0],
				],
			);
			expect(callsTo('9876543210')).toBe(times);
			const left = runs('Place Call').flatMap(([main = []]) => main.slice(0, 1));
			expect(left.map((item) => item.not_placed_reason ?? 'placed')).toEqual([
				'placed',
				...(times === 1 ? ['call_limit_reached', 'call_limit_reached'] : ['placed', 'placed']),
			]);
		},
	);

	test.each<[number, INodeParameters]>([
		[2, {}],
		[1, { callLimit: 'day', maximumCalls: 1 }],
	])('two Place Call nodes call a person %i times with %j', async (times, limit) => {
		const again = { ...placeCall(limit), name: 'Again' };
		await execute(
			[ASHA],
			[placeCall(limit), again],
			[
				['Rows', 'Place Call'],
				['Rows', 'Again'],
			],
		);
		expect(callsTo('9876543210')).toBe(times);
	});

	test.each<[number, boolean]>([
		[2, false],
		[1, true],
	])(
		'two pushes send a number %i times with Skip Numbers Pushed Before: %s',
		async (times, skipPushedBefore) => {
			const options = { skipPushedBefore };
			await execute(
				[ASHA],
				[push({ options }), { ...push({ options }), name: 'Again' }],
				[
					['Rows', 'Push'],
					['Rows', 'Again'],
				],
			);
			expect(simulator.contactsOf(fixtures.campaigns.active)).toHaveLength(times);
		},
	);

	test('both outputs of an IF node lead to a question that is asked once, by webhook', async () => {
		const ask = ours('Ask', 'placeCall', {
			...AGENT,
			operation: 'sendAndWait',
			countryCode: 'IN',
			phoneNumber: APPROVER,
			message: 'May we?',
			yesValues: 'yes',
			noValues: 'no',
		});
		const workflow = await account.create(
			flowOnRows(
				[ASHA, BELA],
				[isVip, ask],
				[
					['Rows', 'IF'],
					['IF', 'Ask', 'main', 0],
					['IF', 'Ask', 'main', 1],
				],
			),
		);
		await n8n.startManually(workflow, 'Start');
		const id = await account.executionOf(workflow);
		expect(await answerQuestions(account, id, 'yes')).toBe('success');
		expect(callsTo(APPROVER)).toBe(1);
		const { runData } = await n8n.runData(id);
		const items = (runData.Ask ?? []).flatMap(({ data }) => data?.main?.[0] ?? []);
		expect(items.map(({ json }) => json.answer)).toEqual(['yes', 'yes']);
	});
});
