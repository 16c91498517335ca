import type { IRun } from 'n8n-workflow';
import { output, service } from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	callsEndpoint,
	CallIds,
	faultOf,
	people,
	perItem,
	phoneOf,
	placeCallHarness,
	rejectCall,
} from './placeCallHarness';

const harness = placeCallHarness();
const { run, retry } = harness;
const REJECTED = { success: false, error: 'phone_number is implausible' };
const ids = (run: IRun) => output(run, 'Node').map(({ json }) => json.call_id);

/** The service rejects these numbers once, and records every call. */
function rejecting(count: number, ...rejected: string[]): string[] {
	const phones: string[] = [];
	const callIds = new CallIds();
	service()
		.post('/v1/call')
		.times(count)
		.reply((_uri, body) => {
			const phone = phoneOf(body);
			phones.push(phone);
			const left = rejected.indexOf(phone);
			if (left < 0) return [200, { success: true, data: { call_id: callIds.next(phone) } }];
			rejected.splice(left, 1);
			return [400, REJECTED];
		});
	return phones;
}

describe('Retry in the list of executions', () => {
	it('places no call again, and continues with rejected and later items', async () => {
		const phones = rejecting(4, '9876543211');
		const node = harness.placeCallNode(perItem);
		const failed = await run(node, people(3));
		expect(faultOf(failed).message).toContain('[item 1]');
		const again = await retry(failed, node);
		expect(ids(again)).toEqual(['call-9876543210', 'call-9876543211', 'call-9876543212']);
		expect(phones).toEqual(['9876543210', '9876543211', '9876543211', '9876543212']);
	});

	it('never sends a call with unknown outcome again, whatever was changed', async () => {
		acceptCalls(1);
		callsEndpoint().reply(502, '<html>Bad Gateway</html>');
		const node = harness.placeCallNode(perItem);
		const failed = await run(node, people(2));
		const again = await retry(failed, node);
		const third = await retry(again, node);
		const changed = harness.placeCallNode({
			...perItem,
			personName: '={{ $itemIndex === 1 ? "Asha" : "" }}',
		});
		for (const each of [failed, again, third, await retry(failed, changed)]) {
			expect(faultOf(each).message).toContain('the outcome is unknown');
			expect(faultOf(each).message).toContain('(call to 9876543211, IN) [item 1]');
		}
	});

	it('with the current workflow, a person is not called again for the same item, whatever was changed', async () => {
		const phones = rejecting(5, '9876543212');
		const rows = [...people(3), ...people(1)];
		const failed = await run(harness.placeCallNode(perItem), rows);
		const changed = harness.placeCallNode({
			...perItem,
			agentUuid: { __rl: true, mode: 'id', value: 'agent_b2' },
			options: { systemPrompt: 'Be brief.' },
			developerSettings: { concurrency: 5, useLegacyEndpoint: false },
		});
		expect(ids(await retry(failed, changed))).toEqual([
			'call-9876543210',
			'call-9876543211',
			'call-9876543212',
			'call-9876543210-2',
		]);
		expect(phones).toEqual(['9876543210', '9876543211', '9876543212', '9876543212', '9876543210']);
	});

	it('with the current workflow, a person is not called again if the number is in another format', async () => {
		const german = { countryCode: 'DE', phoneNumber: '={{ $json.phone }}' };
		const rows = [{ phone: '030 1234567' }, { phone: '030 1234568' }];
		const phones = rejecting(3, '0301234568');
		const failed = await run(harness.placeCallNode(german), rows);
		const edited = harness.placeCallNode({
			...german,
			phoneNumber: '={{ "+49" + $json.phone.slice(1) }}',
		});
		expect(ids(await retry(failed, edited))).toEqual(['call-0301234567', 'call-301234568']);
		expect(phones).toEqual(['0301234567', '0301234568', '301234568']);
	});

	it('with the current workflow, an item with a changed number is a new request', async () => {
		const phones = rejecting(4, '9876543211');
		const rows = people(2).map((row, i) => ({ ...row, corrected: `980000000${i}` }));
		const failed = await run(harness.placeCallNode(perItem), rows);
		const changed = harness.placeCallNode({ phoneNumber: '={{ $json.corrected }}' });
		expect(ids(await retry(failed, changed))).toEqual(['call-9800000000', 'call-9800000001']);
		expect(phones.slice(2)).toEqual(['9800000000', '9800000001']);
	});

	it('with the current workflow, two rows that have become equal keep their own calls', async () => {
		const [first] = people(1);
		const rows = ['Asha', 'Ravi'].map((name) => ({ ...first, name }));
		let count = 0;
		service()
			.post('/v1/call')
			.times(3)
			.reply((_uri, body) =>
				count++ < 2 && JSON.stringify(body).includes('Asha')
					? [400, REJECTED]
					: [200, { success: true, data: { call_id: `call ${count}` } }],
			);
		const parameters = { ...perItem, developerSettings: { concurrency: 2 } };
		const named = harness.placeCallNode({ ...parameters, personName: '={{ $json.name }}' });
		const failed = await run(named, rows);
		const alike = harness.placeCallNode({ ...parameters, personName: 'Ravi' });
		expect(ids(await retry(failed, alike))).toEqual(['call 3', 'call 2']);
	});

	it('a call whose request contains the time of the attempt is recognized, also for rows with the same number', async () => {
		const [first, second] = people(2);
		const phones = rejecting(5, '9876543211');
		const node = harness.placeCallNode({ ...perItem, personName: '={{ $now.toMillis() }}' });
		const failed = await run(node, [{ ...first }, { ...first }, { ...second }, { ...first }]);
		expect(ids(await retry(failed, node))).toHaveLength(4);
		const others = ['9876543211', '9876543210'];
		expect(phones).toEqual(['9876543210', '9876543210', '9876543211', ...others]);
	});

	it('of two rows with the same number, the rejected one is sent again', async () => {
		const [first] = people(1);
		const node = harness.placeCallNode(perItem);
		acceptCalls(1);
		rejectCall();
		const failed = await run(node, [{ ...first }, { ...first }]);
		const again = acceptUpTo(2);
		expect(ids(await retry(failed, node))).toEqual(['call-9876543210', 'another-call-9876543210']);
		expect(again).toHaveLength(1);
	});

	it('of three rows with the same number, the one that a first retry called is not called by a second one', async () => {
		const [first] = people(1);
		const node = harness.placeCallNode(perItem);
		acceptCalls(1);
		rejectCall();
		const failed = await run(node, [{ ...first }, { ...first }, { ...first }]);
		acceptUpTo(1);
		rejectCall();
		expect(faultOf(await retry(failed, node)).message).toContain('[item 2]');
		const again = acceptUpTo(2);
		// The records of the first retry aren't stored with the execution that is retried again.
		const { message, description } = faultOf(await retry(failed, node));
		expect(again).toEqual([]);
		expect(message).toContain('[item 1]');
		expect(description).toMatch(/already placed.*item 0/);
	});

	it('an earlier call whose time has passed is still recognized', async () => {
		const soon = new Date(Date.now() + 1_000).toISOString();
		const phones = rejecting(3, '9876543211');
		const parameters = {
			...perItem,
			when: 'dateTime',
			scheduledAt: '={{ $itemIndex === 0 ? $json.at : "2099-01-31T18:30:00+05:30" }}',
		};
		const node = harness.placeCallNode(parameters);
		const failed = await run(
			node,
			people(2).map((row) => ({ ...row, at: soon })),
		);
		jest.useFakeTimers({
			now: Date.now() + 60_000,
			doNotFake: ['nextTick', 'setImmediate', 'setTimeout', 'queueMicrotask', 'performance'],
		});
		const again = await retry(failed, node);
		jest.useRealTimers();
		expect(ids(again)).toEqual(['call-9876543210', 'call-9876543211']);
		expect(phones).toEqual(['9876543210', '9876543211', '9876543211']);
	});
});

describe('the stored records', () => {
	const kept = ({ data }: IRun) => JSON.stringify(data.executionData?.contextData['node:Node']);

	it('are small: no rows, and one result per call', async () => {
		const rows = people(300).map((row) => ({ ...row, notes: 'x'.repeat(500) }));
		rejecting(300, '9876543509');
		const failed = await run(
			harness.placeCallNode({ ...perItem, developerSettings: { concurrency: 50 } }),
			rows,
		);
		expect(kept(failed)).not.toContain('xxx');
		expect(kept(failed)).not.toContain('"9876543210"');
		expect(kept(failed).length / 299).toBeLessThan(90);
	});

	it('have only short fields if the results are very long', async () => {
		const echo = 'e'.repeat(400_000);
		service()
			.post('/v1/call')
			.times(5)
			.reply((_uri, body) => {
				const phone = phoneOf(body);
				if (phone === '9876543214') return [400, REJECTED];
				return [200, { success: true, data: { call_id: phone, echo } }];
			});
		const node = harness.placeCallNode(perItem);
		const failed = await run(node, people(5));
		expect(kept(failed).length).toBeLessThan(1_000_000);
		acceptCalls(1);
		const items = output(await retry(failed, node), 'Node').map(({ json }) => json);
		expect(items.map(({ call_id: id }) => id)).toEqual([
			'9876543210',
			'9876543211',
			'9876543212',
			'9876543213',
			'call-9876543214',
		]);
		// The first two fit.
		for (const [index, phone] of ['9876543210', '9876543211'].entries()) {
			expect(items[index]).toEqual({ call_id: phone, echo, phone_key: `91${phone}` });
		}
		expect(items[3]).toEqual({
			call_id: '9876543213',
			not_kept: ['echo'],
			phone_key: '919876543213',
		});
	});

	it('have no included rows, and a retry returns each row with its call', async () => {
		const rows = people(3).map((row, index) => ({ ...row, notes: `of row ${index}` }));
		rejecting(3, '9876543212');
		const node = harness.placeCallNode({ ...perItem, options: { includeInputFields: true } });
		const failed = await run(node, rows);
		expect(kept(failed)).not.toContain('of row');
		acceptCalls(1);
		const items = output(await retry(failed, node), 'Node').map(({ json }) => json);
		expect(items).toEqual(
			rows.map((row) => ({
				...row,
				call_id: `call-${row.phone}`,
				phone_key: `91${row.phone}`,
			})),
		);
	});
});
