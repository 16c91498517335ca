import { NotSent } from '../../../../../nodes/shared/api/errors';
import { openStore } from '../../../../../nodes/shared/n8n/once/nodeStore';
import { engineHarness, mcpContext } from '../../../../engine';

const harness = engineHarness();
const USE = { message: "n8n can't note it", description: 'Ask your n8n administrator.' };

test.each<[unknown, string]>([
	[new Error('database is locked'), 'database is locked'],
	['no connection', 'no connection'],
])('if n8n fails with %p, nothing is sent, and the error contains it', async (error, cause) => {
	const context = mcpContext(harness.credentials, harness.node('placeCall'), 'session');
	const store = openStore(context, 'node', USE);
	harness.store.beforeCall = () => {
		throw error;
	};
	for (const use of [
		async () => await store.add(['1']),
		async () => await store.remove(['1']),
		async () => await store.clear(),
		async () => await store.count(),
	]) {
		const using = use();
		await expect(using).rejects.toBeInstanceOf(NotSent);
		await expect(using).rejects.toMatchObject({
			message: USE.message,
			resolution: USE.description,
			originalMessage: cause,
			origin: 'n8n',
		});
	}
});
