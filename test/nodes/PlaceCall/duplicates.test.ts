/** Which calls are one call: of items with the same number, and of several runs of the node. */
import compact from 'lodash/compact';
import uniq from 'lodash/uniq';
import type { IConnections, INode, INodeParameters, IRun } from 'n8n-workflow';
import { makeNode, makeWorkflow, records, runWorkflow, skipSleeps } from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	callsEndpoint,
	CONTINUE,
	faultOf,
	HOURS,
	itemsOf,
	NIGHT,
	NOON,
	onOtherDays,
	people,
	perItem,
	phone,
	phoneOf,
	placeCallHarness,
	rejectCall,
} from './placeCallHarness';

const { place, placeCallNode, kill, retry, retryAfterKill, run } = placeCallHarness();

const AT = { ...perItem, when: 'dateTime', scheduledAt: '={{ $json.at }}' };
const SKIP = { outsideCallingHours: 'notPlaced' };
const on20 = (time: string) => `2026-11-20T${time}+05:30`;
const on21 = (time: string) => `2026-11-21T${time}+05:30`;

describe('items with the same number', () => {
	const twice = [{ phone: phone(0) }, { phone: '+91 98765 43210' }, { phone: phone(1) }];
	const placedIn = (ofRun: IRun) => records(ofRun).map(({ placed }) => placed);

	it('are called once, also by a retry', async () => {
		const bodies = acceptCalls(1);
		rejectCall();
		const node = placeCallNode(perItem);
		const failed = await run(node, twice);
		const again = acceptUpTo(2);
		const retried = await retry(failed, node);
		expect(bodies.map(phoneOf)).toEqual([phone(0)]);
		expect(again.map(phoneOf)).toEqual([phone(1)]);
		expect(placedIn(retried)).toEqual([true, false, true]);
	});

	it.each<[string, INodeParameters]>([
		['at once', { options: { concurrency: 5 } }],
		['on other days', onOtherDays],
		['at an opening', HOURS],
	])('are one call %s', async (_when, parameters) => {
		skipSleeps(Date.parse(NIGHT));
		acceptCalls(2);
		const run = await place({ ...perItem, ...parameters }, { items: twice });
		expect(placedIn(run)).toEqual([true, false, true]);
	});

	it.each([1, 5])('are one call in two batches, with a concurrency of %d', async (concurrency) => {
		const rows = people(60).map((row, index) => (index === 50 ? { phone: phone(49) } : row));
		acceptCalls(59);
		const run = await place({ ...perItem, options: { concurrency } }, { items: rows });
		expect(records(run)[50]).toMatchObject({
			...{ placed: false, not_placed_reason: 'duplicate_number', duplicate_of: 49 },
		});
	});

	it.each<[string, string[], INodeParameters]>([
		['is in the past', [on20('11:40:00'), on20('12:30:00')], {}],
		['is after the hours', [on20('18:05:00'), on20('17:50:00')], { ...HOURS, ...SKIP }],
	])('are called at the second time if the first one %s', async (_why, times, parameters) => {
		skipSleeps(Date.parse(NOON));
		acceptCalls(1);
		const items = times.map((at) => ({ phone: phone(0), at }));
		const [, second] = placedIn(await place({ ...AT, ...parameters }, { items, over: CONTINUE }));
		expect(second).toBe(true);
	});

	it('each have their own reason if calling hours keep their times from being called', async () => {
		skipSleeps(Date.parse(NIGHT));
		const times = [on20('23:00:00'), on21('11:00:00')];
		const items = times.map((at) => ({ phone: phone(0), at }));
		const outside = { not_placed_reason: 'outside_calling_hours' };
		const run = await place({ ...AT, ...HOURS, ...SKIP }, { items });
		expect(records(run)).toMatchObject([outside, outside]);
	});
});

describe('a node that runs several times in an execution', () => {
	/** Runs Place Call with these connections. Returns the output of each of its runs. */
	const runsOf = async (
		arrows: string,
		parameters: INodeParameters = {},
		over: Partial<INode> = {},
	) => {
		const pairs = arrows.split(', ').map((arrow) => arrow.split(' → '));
		const connections: IConnections = {};
		for (const [from = '', node = ''] of pairs) {
			const [targets] = (connections[from] ??= { main: [[]] }).main ?? [];
			targets?.push({ node, type: 'main', index: 0 });
		}
		const start = makeNode({ type: 'test.start', name: 'Start' });
		const others = uniq(pairs.flat()).filter((name) => name !== 'Start' && name !== 'Node');
		const passing = others.map((name) => makeNode({ type: 'test.sink', name }));
		const nodes = [start, ...passing, placeCallNode({ ...perItem, ...parameters }, over)];
		const workflow = makeWorkflow(nodes, connections);
		const { data } = await runWorkflow(workflow, start, itemsOf([{ phone: phone(0) }]));
		return (data.resultData.runData.Node ?? []).map((each) => each.data?.main?.[0]?.[0]?.json);
	};
	const TWICE = 'Start → Node, Start → Node';
	const calledOnce = [
		{ placed: true },
		{ placed: false, not_placed_reason: 'duplicate_number', duplicate_of: null },
	];
	const inOtherTimes = '=2040-01-{{ 10 + $runIndex }}T12:00:00Z';

	it.each<[string, string, INodeParameters]>([
		['that reaches it twice', TWICE, {}],
		['also by another node', 'Start → Other, Start → Node, Other → Node', {}],
		['by one node that ran twice', 'Start → A, Start → B, A → Other, B → Other, Other → Node', {}],
		['at other times', TWICE, { when: 'dateTime', scheduledAt: inOtherTimes }],
	])('calls a number once %s', async (_how, arrows, parameters) => {
		acceptCalls(1);
		expect(await runsOf(arrows, parameters)).toMatchObject(calledOnce);
	});

	it('calls it once if the first outcome is unknown, and says so of the second one', async () => {
		callsEndpoint().reply(502, '');
		const outcome = { outcome: 'unknown' };
		expect(await runsOf(TWICE, {}, CONTINUE)).toMatchObject([
			{ details: outcome },
			{
				error: `This execution may have called the number before, so it wasn't called again (call to ${phone(0)}, IN)`,
				details: outcome,
			},
		]);
	});

	it('calls it once if the calling hours end between two branches', async () => {
		const itIs = skipSleeps(Date.parse(NOON));
		callsEndpoint().reply(200, () => {
			itIs(NIGHT);
			return { success: true, data: { call_id: 'call-1' } };
		});
		expect(await runsOf(TWICE, HOURS)).toMatchObject(calledOnce);
	});

	const LOOP = 'Start → Node, Node → Other, Other → Node';

	it.each<[string, string, boolean, placed: boolean[]]>([
		['calls it once in a loop', LOOP, false, [true, false]],
		['with Call Again in Loops, calls it in each round', LOOP, true, [true, true]],
		['with Call Again in Loops, calls it in each branch', TWICE, true, [true, true]],
	])('%s', async (_what, arrows, callAgainInLoops, placed) => {
		acceptCalls(placed.filter(Boolean).length);
		// Ends the loop.
		const phoneNumber = '={{ $runIndex < 2 ? $json.phone : "" }}';
		const runs = await runsOf(arrows, { options: { callAgainInLoops }, phoneNumber });
		expect(compact(runs).map((item) => item.placed)).toEqual(placed);
	});

	it('with Call Again in Loops, calls nobody again in a retry of a round', async () => {
		const options = { callAgainInLoops: true };
		const node = placeCallNode({ ...perItem, options });
		acceptCalls(1);
		const begun = await kill(node, [{ phone: phone(0) }]);
		const again = acceptUpTo(1);
		expect(faultOf(await retryAfterKill(begun, node)).message).toContain('no record of the result');
		expect(again).toEqual([]);
	});
});
