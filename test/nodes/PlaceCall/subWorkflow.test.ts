import type { INode, IRun } from 'n8n-workflow';
import { output, ParentExecution, skipSleeps } from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	faultOf,
	HOURS,
	itemsOf,
	people,
	perItem,
	phone,
	placeCallHarness,
	rejectCall,
} from './placeCallHarness';

const harness = placeCallHarness();
const NOON = '2026-11-20T12:00:00+05:30';
const NIGHT = '2026-11-20T22:00:00+05:30';
const CONTINUE = { onError: 'continueRegularOutput' } as const;

let itIs: (iso: string) => void;
let parent: ParentExecution;
beforeEach(() => {
	itIs = skipSleeps(Date.parse(NOON));
	parent = new ParentExecution(harness.credentials, Date.parse(NOON));
});
afterEach(() => jest.restoreAllMocks());

const run = async (node: INode, rows: Array<{ phone: string }>): Promise<IRun> =>
	await parent.run(node, itemsOf(rows));

describe('a sub-workflow whose parent is retried after n8n was killed', () => {
	it("doesn't say outside the calling hours that a call that was placed wasn't", async () => {
		acceptCalls(1);
		const hours = { callingHours: { hours: HOURS }, outsideCallingHours: 'notPlaced' };
		const node = harness.placeCallNode({ ...perItem, options: hours }, CONTINUE);
		expect(output(await run(node, people(1)), 'Node')).toHaveLength(1);
		parent.retry();
		itIs(NIGHT);
		const [item] = output(await run(node, people(1)), 'Node');
		expect(item?.json).not.toMatchObject({ placed: false });
		expect(item?.json).toMatchObject({ details: { outcome: 'unknown' } });
	});

	it("doesn't say after the scheduled time that nothing was sent", async () => {
		acceptCalls(1);
		const scheduled = { when: 'dateTime', scheduledAt: '={{ "2026-11-20T13:00:00+05:30" }}' };
		const node = harness.placeCallNode({ ...perItem, ...scheduled });
		await run(node, people(1));
		parent.retry();
		itIs(NIGHT);
		expect(faultOf(await run(node, people(1))).description).not.toContain('Nothing was sent');
	});

	it('lists every started item, and sends nothing', async () => {
		rejectCall();
		acceptCalls(2);
		const node = harness.placeCallNode(perItem);
		await run({ ...node, ...CONTINUE }, people(3));
		parent.retry();
		const bodies = acceptUpTo(1);
		const { message, description } = faultOf(await run(node, people(3)));
		for (const index of [1, 2]) expect(`${message} ${description}`).toContain(phone(index));
		expect(bodies).toEqual([]);
	});

	it('calls nobody again if a value changed, and an earlier call to the person was rejected', async () => {
		const node = harness.placeCallNode(
			{
				...perItem,
				personName: '={{ $json.name }}',
				// Differs in each execution.
				options: { additionalBodyFields: '={ "sent_by": "{{ $execution.id }}" }' },
			},
			CONTINUE,
		);
		const rows = ['A', 'B'].map((name) => ({ phone: phone(0), name }));
		rejectCall();
		const bodies = acceptCalls(1);
		await run(node, rows);
		expect(bodies).toMatchObject([{ person_name: 'B' }]);
		parent.retry();
		const again = acceptUpTo(2);
		await run(node, rows);
		expect(again.map((body) => body.person_name)).not.toContain('B');
	});

	it("calls nobody again if n8n's database stores the notes of the retry, but reports an error", async () => {
		acceptCalls(1);
		const node = harness.placeCallNode(perItem);
		await run(node, people(1));
		parent.retry();
		const again = acceptUpTo(1);
		harness.store.failAfterNextAdd();
		await run(node, people(1));
		expect(again).toEqual([]);
	});
});

describe('a sub-workflow', () => {
	it("doesn't promise that a retry skips its calls, because a retry of the parent stops at the first one", async () => {
		acceptCalls(1);
		rejectCall();
		const node = harness.placeCallNode(perItem);
		const { description } = faultOf(await run(node, people(2)));
		expect(description).toContain('1 call was already placed in this run (item 0)');
		expect(description).not.toContain('A retry of this execution skips it');
		parent.retry();
		const bodies = acceptUpTo(1);
		expect(faultOf(await run(node, people(2))).message).toContain('[item 0]');
		expect(bodies).toEqual([]);
	});

	it('stores four notes for each request, two of them with the ID of the execution', async () => {
		acceptCalls(1);
		await run(harness.placeCallNode(perItem), people(1));
		expect(harness.store.size).toBe(4);
	});
});
