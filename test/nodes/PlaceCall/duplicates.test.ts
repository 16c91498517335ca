import type { IRun } from 'n8n-workflow';
import { output, skipSleeps } from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	HOURS,
	NIGHT,
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
		const { data } = await retry(failed, node);
		expect(bodies.map(phoneOf)).toEqual([phone(0)]);
		expect(again.map(phoneOf)).toEqual([phone(1)]);
		const [task] = data.resultData.runData.Node ?? [];
		expect((task?.hints ?? []).map(({ message }) => message)).toEqual([
			expect.stringMatching(
				/^3 items: 2 calls placed, 1 with the number of an earlier item\. To call/,
			),
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

	it('are called once if calling hours move them to the same opening', async () => {
		skipSleeps(Date.parse(NIGHT));
		acceptCalls(2);
		const options = { callingHours: { hours: HOURS } };
		expect(placedOf(await place({ ...perItem, options }, { items: twice }))).toEqual(PLACED);
	});
});
