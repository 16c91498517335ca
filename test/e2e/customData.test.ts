import { z } from 'zod';
import { querySqlite } from '../n8n/sqlite';
import { until } from '../n8n/until';
import { useAccount } from './account';
import { n8nFolder } from './n8nFolder';

const NAME = 'Asha Rao';
const PHONE = '9000000000';

/** The IDs of the executions that n8n's list shows for a filter of custom data. n8n needs a license to apply it. */
function found(key: string, value: string): string[] {
	const query =
		'select executionId as id from execution_metadata where lower(key) = lower(?) and lower(value) like lower(?)';
	const rows = querySqlite(n8nFolder().home, query, key, `%${value}%`);
	return z
		.array(z.object({ id: z.coerce.string() }))
		.parse(rows)
		.map(({ id }) => id);
}

/** All custom data of an execution. */
function dataOf(id: string): unknown[] {
	const query = 'select key, value from execution_metadata where executionId = ? order by key';
	return querySqlite(n8nFolder().home, query, id);
}

/** n8n's editor, in which a person looks for what happened to a call. */
describe('an execution in real n8n is found', () => {
	const account = useAccount({ isMapped: true });
	const { n8n, simulator, placeCall } = account;

	it('by a call that it placed, also one of several, and by its outcome after a wait', async () => {
		const wait = { options: { waitMinutes: 60 }, personName: NAME };
		const { id } = await account.start([PHONE, '9000000001'], [placeCall(wait)]);
		await until('the calls', () => simulator.placedCalls().length === 2);
		const [asha = '', other = ''] = simulator.placedCalls().map(({ callId }) => callId);
		await simulator.completeCall(asha, { status: 'not_picked' });
		await simulator.completeCall(other);
		expect(await n8n.finished(id)).toMatchObject({ status: 'success' });
		expect(found('call_id', asha)).toEqual([id]);
		expect(found('call_id', other)).toEqual([id]);
		expect(found('outcome', 'Not answered')).toContain(id);
		expect(found('call_id', '00000000-0000-4000-8000-000000000000')).toEqual([]);
		const data = JSON.stringify(dataOf(id));
		expect(data).not.toContain(PHONE);
		expect(data).not.toContain(NAME);
	});
});
