import omit from 'lodash/omit';
import pick from 'lodash/pick';
import { records } from '../../../engine';
import { dialects } from '../../../simulator';
import { waitBy } from '../placeCallHarness';
import { people } from '../waitingExecutions';
import { byWebhook, waitHarness } from './waitHarness';

// The dialect makes no difference for these.
describe('items of the wait', () => {
	const { waiting, service } = waitHarness(dialects.plain);

	it('keeps items without a call at their positions, and they do not end the wait', async () => {
		const rows = [{ phone: '' }, { phone: '9000000000' }];
		const { run, callId, arrive } = await waiting(byWebhook, rows, {
			onError: 'continueErrorOutput',
		});
		expect(run.status).toBe('waiting');
		expect((await arrive()).items).toBeUndefined();
		await service().endCall(callId);
		const { items, result } = await arrive({ call_id: callId });
		expect(items).toMatchObject([
			{ error: "'Phone Number' is empty [row 1]" },
			{ call_id: callId, timed_out: false },
		]);
		expect(items?.[0]).not.toHaveProperty('timed_out');
		expect(result?.workflowData?.[0]).toMatchObject([
			{ pairedItem: { item: 0 } },
			{ pairedItem: { item: 1 } },
		]);
	});

	it('an item with the number of another one has the outcome of its call', async () => {
		const rows = [{ phone: '9000000000' }, { phone: '+91 90000 00000' }, { phone: '' }];
		const { callId, arrive } = await waiting(byWebhook, rows, {
			onError: 'continueRegularOutput',
		});
		await service().endCall(callId);
		const { items } = await arrive({ call_id: callId });
		expect(items).toMatchObject([
			{ call_id: callId, placed: true, answered: true, timed_out: false },
			{ call_id: null, placed: false, duplicate_of: 0, answered: true, timed_out: false },
			{ error: "'Phone Number' is empty [row 3]" },
		]);
	});

	it.each([
		['a webhook resumes it', false],
		["n8n's own limit ends its wait", true],
	])('with Execute Once only the executed item is returned, when %s', async (_how, atLimit) => {
		const waitingRun = await waiting({ ...byWebhook, phoneNumber: '9000000000' }, 3, {
			executeOnce: true,
		});
		const { run, calls, callId: call_id } = waitingRun;
		expect(calls).toHaveLength(1);
		expect(records(run, 'Start')).toEqual(people(3));
		await service().endCall(call_id);
		const items = atLimit
			? await waitingRun.untilLimit()
			: (await waitingRun.arrive({ call_id })).items;
		expect(items).toEqual([expect.objectContaining({ call_id, timed_out: atLimit })]);
	});

	describe('Include Input Fields', () => {
		const options = { includeInputFields: true };
		const rows = people(2).map((row, index) => ({
			...row,
			row_number: index + 2,
			// Output of an earlier call in the sheet.
			status: 'to call',
			call_id: 'of an earlier call',
			timed_out: 'earlier',
			not_read: 'earlier',
			waits_until: 'earlier',
			outcome: 'earlier',
			captured_day: 'earlier',
			analysis_mood: 'earlier',
		}));
		const STALE = ['not_read', 'waits_until', 'captured_day', 'analysis_mood'];
		const called = (call_id: string | undefined, index: number) => ({
			...omit(rows[index], STALE),
			call_id,
			phone_key: `91${9_000_000_000 + index}`,
			outcome: 'Answered',
			status: 'picked',
			timed_out: false,
		});

		it('keeps the row while the execution waits, and returns it with the call', async () => {
			const { calls, arrive } = await waiting(waitBy('webhook', {}, options), rows);
			const [first = '', second = ''] = calls;
			await service().endCall(first);
			expect((await arrive({ call_id: first })).items).toBeUndefined();
			await service().endCall(second);
			const { items = [] } = await arrive({ call_id: second });
			expect(items).toMatchObject([called(first, 0), called(second, 1)]);
			for (const item of items) expect(pick(item, STALE)).toEqual({});
		});

		it('an item without a call does not wait for an earlier call of its row', async () => {
			const { callId, arrive } = await waiting(
				waitBy('webhook', {}, options),
				[{ ...rows[0], phone: '' }, ...rows.slice(1)],
				{ onError: 'continueRegularOutput' },
			);
			await service().endCall(callId);
			const { items = [] } = await arrive({ call_id: callId });
			expect(items).toMatchObject([
				{ error: "'Phone Number' is empty [row 1]" },
				called(callId, 1),
			]);
			const fields = ['phone', 'row_number', 'status', 'error', 'message', 'details'];
			expect(Object.keys(items[0] ?? {})).toEqual(fields);
		});
	});
});
