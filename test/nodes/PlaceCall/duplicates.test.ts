import uniq from 'lodash/uniq';
import type { IConnections, INodeParameters, IRun } from 'n8n-workflow';
import { hintsOf, makeNode, makeWorkflow, output, runWorkflow, skipSleeps } from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	callsEndpoint,
	CONTINUE,
	HOURS,
	itemsOf,
	NIGHT,
	NOON,
	onOtherDays,
	perItem,
	phone,
	phoneOf,
	placeCallHarness,
	rejectCall,
} from './placeCallHarness';

const { place, placeCallNode, retry, run } = placeCallHarness();
afterEach(() => jest.restoreAllMocks());

describe('items with the same number', () => {
	const twice = [{ phone: '9876543210' }, { phone: '+91 98765 43210' }, { phone: phone(1) }];
	const PLACED = [true, false, true];
	const placedOf = (ofRun: IRun) => output(ofRun, 'Node').map(({ json }) => json.placed);

	it('are called once, also by a retry, and the hint says so', async () => {
		const bodies = acceptCalls(1);
		rejectCall();
		const node = placeCallNode(perItem);
		const failed = await run(node, twice);
		const again = acceptUpTo(2);
		const retried = await retry(failed, node);
		expect(bodies.map(phoneOf)).toEqual([phone(0)]);
		expect(again.map(phoneOf)).toEqual([phone(1)]);
		expect(hintsOf(retried)).toEqual([
			expect.stringMatching(/^3 items: 2 called, 1 with the number of another item\. The output/),
		]);
	});

	it('are called once if they are placed at the same moment', async () => {
		const bodies = acceptCalls(2);
		const placed = await place(
			{ ...perItem, developerSettings: { concurrency: 5 } },
			{ items: twice },
		);
		expect(placedOf(placed)).toEqual(PLACED);
		expect(bodies.map(phoneOf)).toEqual([phone(0), phone(1)]);
	});

	it('are called at each of their times', async () => {
		acceptCalls(3);
		const placed = await place({ ...perItem, ...onOtherDays }, { items: twice });
		expect(placedOf(placed)).toEqual([true, true, true]);
	});

	const AT = { when: 'dateTime', scheduledAt: '={{ $json.at }}' };
	it.each<[string, INodeParameters, string[]]>([
		['calling hours move them to the same opening', HOURS, []],
		[
			'calling hours move their times to the same opening',
			{ ...AT, ...HOURS },
			['2026-11-20T23:00:00+05:30', '2026-11-21T02:00:00+05:30'],
		],
		[
			'their times are written differently',
			AT,
			['2026-11-21T10:00:00+05:30', '2026-11-21T04:30:00Z'],
		],
		[
			'their times are less than an hour apart, as of $now.plus(…)',
			AT,
			['2026-11-21T10:00:00+05:30', '2026-11-21T10:59:59.999+05:30'],
		],
	])('are called once if %s', async (_why, parameters, times) => {
		skipSleeps(Date.parse(NIGHT));
		acceptCalls(2);
		const items = twice.map((row, index) => ({ ...row, at: times[index] ?? times[0] ?? '' }));
		expect(placedOf(await place({ ...perItem, ...parameters }, { items }))).toEqual(PLACED);
	});

	it.each<[string, string[], INodeParameters]>([
		['is in the past', ['2026-11-20T11:40:00+05:30', '2026-11-20T12:30:00+05:30'], {}],
		[
			'is outside the calling hours',
			['2026-11-20T18:05:00+05:30', '2026-11-20T17:50:00+05:30'],
			{ ...HOURS, outsideCallingHours: 'notPlaced' },
		],
	])('are called at the second time if the first one %s', async (_why, times, parameters) => {
		skipSleeps(Date.parse(NOON));
		const bodies = acceptCalls(1);
		const items = times.map((at) => ({ phone: phone(0), at }));
		const placed = await place({ ...perItem, ...AT, ...parameters }, { items, over: CONTINUE });
		expect(output(placed, 'Node')[1]?.json).toMatchObject({ placed: true });
		expect(bodies).toHaveLength(1);
	});

	it('count as duplicates in the hint, also if their rows have an error', async () => {
		acceptCalls(1);
		const items = [0, 1].map(() => ({ phone: phone(0), error: 'was here' }));
		const options = { includeInputFields: true };
		expect(hintsOf(await place({ ...perItem, options }, { items }))).toEqual([
			expect.stringMatching(/^2 items: 1 called, 1 with the number of another item\. The output/),
		]);
	});

	it('each have their own reason if calling hours keep their times from being called', async () => {
		skipSleeps(Date.parse(NIGHT));
		const hours = { ...HOURS, outsideCallingHours: 'notPlaced' };
		const times = ['2026-11-20T23:00:00+05:30', '2026-11-21T11:00:00+05:30'];
		const items = times.map((at) => ({ phone: phone(0), at }));
		const placed = await place({ ...perItem, ...AT, ...hours }, { items });
		expect(output(placed, 'Node').map(({ json }) => json.not_placed_reason)).toEqual([
			'outside_calling_hours',
			'outside_calling_hours',
		]);
	});
});

describe('a node that runs several times in an execution', () => {
	const to = (node: string) => ({ node, type: 'main' as const, index: 0 });
	const start = makeNode({ type: 'test.start', name: 'Start' });
	const pass = (name: string) => makeNode({ type: 'test.sink', name });
	const people = itemsOf([{ phone: phone(0) }]);

	/** Runs Place Call with these connections. Returns the output of each of its runs. */
	const runsOf = async (arrows: Array<[from: string, to: string]>, parameters = {}) => {
		const connections: IConnections = {};
		for (const [from, target] of arrows) {
			const [targets] = (connections[from] ??= { main: [[]] }).main ?? [];
			targets?.push(to(target));
		}
		const names = uniq(arrows.flat()).filter((name) => name !== 'Start' && name !== 'Node');
		const nodes = [start, ...names.map(pass), placeCallNode({ ...perItem, ...parameters })];
		const { data } = await runWorkflow(makeWorkflow(nodes, connections), start, people);
		return (data.resultData.runData.Node ?? []).map((each) => each.data?.main?.[0]?.[0]?.json);
	};
	const twice: Array<[string, string]> = [
		['Start', 'Node'],
		['Start', 'Node'],
	];
	const placed = { placed: true };
	const sameNumber = {
		placed: false,
		not_placed_reason: 'duplicate_number',
		duplicate_of: null,
	};

	it.each<[string, Array<[string, string]>]>([
		[
			'directly and through another node',
			[
				['Start', 'Other'],
				['Start', 'Node'],
				['Other', 'Node'],
			],
		],
		['twice', twice],
		[
			'through one node that ran twice',
			[
				['Start', 'A'],
				['Start', 'B'],
				['A', 'Other'],
				['B', 'Other'],
				['Other', 'Node'],
			],
		],
	])('calls a number once that reaches it %s', async (_how, arrows) => {
		const bodies = acceptCalls(1);
		expect(await runsOf(arrows)).toMatchObject([placed, sameNumber]);
		expect(bodies).toHaveLength(1);
	});

	it('calls it once if each branch has another time', async () => {
		const bodies = acceptCalls(1);
		const parameters = { when: 'dateTime', scheduledAt: '=2040-01-{{ 10 + $runIndex }}T12:00:00Z' };
		expect(await runsOf(twice, parameters)).toMatchObject([placed, sameNumber]);
		expect(bodies).toHaveLength(1);
	});

	it('calls it once if the calling hours end between two branches', async () => {
		const itIs = skipSleeps(Date.parse(NOON));
		callsEndpoint().reply(200, () => {
			itIs(NIGHT);
			return { success: true, data: { call_id: 'call-1' } };
		});
		expect(await runsOf(twice, HOURS)).toMatchObject([placed, sameNumber]);
	});

	it('calls it again in a loop', async () => {
		const bodies = acceptCalls(2);
		rejectCall();
		const options = { includeInputFields: true };
		await runsOf(
			[
				['Start', 'Node'],
				['Node', 'Other'],
				['Other', 'Node'],
			],
			{ options },
		);
		expect(bodies).toHaveLength(2);
	});

	it('in each round of a loop, calls a number of two branches once', async () => {
		const bodies = acceptCalls(2);
		rejectCall();
		const options = { includeInputFields: true };
		await runsOf(
			[
				['Start', 'Round'],
				['Round', 'A'],
				['Round', 'B'],
				['A', 'Node'],
				['B', 'Node'],
				['Node', 'Round'],
			],
			{ options },
		);
		expect(bodies).toHaveLength(2);
	});
});
