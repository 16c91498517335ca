/** Stop, or the workflow's time limit, while n8n's database is locked in the middle of a push. */
import type { INode } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { engineHarness, startNode, stoppedResult } from '../../engine';
import { accepted, respondWith, manyRows, phone, phonesOf, pushNode } from './pushHarness';

const harness = engineHarness();
afterEach(() => jest.restoreAllMocks());

/** The first request is accepted. Then n8n can't note the second one, and the execution is stopped. */
async function stopAtSecond(over: Partial<INode> = {}) {
	const bodies = respondWith([200, accepted(1)]);
	const node = pushNode(harness, { developerSettings: { contactsPerRequest: 1 } }, over);
	const execution = startNode(harness.credentials, node, manyRows(3));
	harness.store.beforeCall = () => {
		if (bodies.length > 0) throw new Error('database is locked');
	};
	jest.spyOn(clock, 'sleep').mockImplementation(async () => {
		execution.cancel();
		await new Promise(() => {});
	});
	const result = await stoppedResult(execution);
	expect(bodies.flatMap(phonesOf)).toEqual([phone(0)]);
	return result;
}

test('the message says that this attempt pushed the first row', async () => {
	const { error } = await stopAtSecond();
	expect(error?.description).toContain('Pushed: 1 row (row 1, contact list 501)');
	expect(error?.description).not.toContain('This attempt sent nothing');
});

test('with Continue, the hints and reasons say the same', async () => {
	const result = await stopAtSecond({ onError: 'continueRegularOutput' });
	const hints = (result.hints ?? []).map(({ message }) => message).join('\n');
	expect(hints).toContain('1 pushed');
	expect(hints).not.toContain('This attempt sent nothing');
	const reasons = result.data?.main?.[1]?.map(({ json }) => json.rejection_reason);
	expect(reasons).toHaveLength(2);
	expect(JSON.stringify(reasons)).not.toContain('canceled. Nothing was sent');
});
