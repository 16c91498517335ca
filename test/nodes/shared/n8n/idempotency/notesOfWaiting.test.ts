import { notesOfWaiting } from '../../../../../nodes/shared/n8n/idempotency/writeAheadLog';
import { engineHarness, mcpContext } from '../../../../engine';

const harness = engineHarness();

test('a waiting execution that cannot be retried has no entries to remove', async () => {
	const context = mcpContext(harness.credentials, harness.node('placeCall'), 'session');
	const clearNotes = await notesOfWaiting(context);
	await clearNotes();
	expect(harness.store.calls).toEqual([]);
});
