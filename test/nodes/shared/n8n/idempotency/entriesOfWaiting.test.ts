import { entriesOfWaiting } from '../../../../../nodes/shared/n8n/idempotency/openWriteAheadLog';
import { engineHarness, mcpContext } from '../../../../engine';

const harness = engineHarness();

test('a waiting execution that cannot be retried has no entries to remove', async () => {
	const context = mcpContext(harness.credentials, harness.node('placeCall'), 'session');
	const clearEntries = await entriesOfWaiting(context);
	await clearEntries();
	expect(harness.store.calls).toEqual([]);
});
