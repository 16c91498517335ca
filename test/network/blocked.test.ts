import { Container } from '@n8n/di';
import { responseBytes, startBadService } from './badService';
import { placeCallHarness } from './placeCallHarness';

// n8n reads its settings on first use.
beforeAll(() => {
	process.env.N8N_SSRF_PROTECTION_ENABLED = 'true';
	Container.reset();
});
afterAll(() => {
	delete process.env.N8N_SSRF_PROTECTION_ENABLED;
	Container.reset();
});
const { place } = placeCallHarness();

test('a URL that n8n blocks: nothing was sent, and there is no retry', async () => {
	const service = await startBadService(({ socket }) => socket.end(responseBytes('{}')));
	const result = await place(`http://127.0.0.1:${service.port}`);
	await service.close();
	expect(result).toEqual({
		outcome: 'not_sent',
		message: expect.stringContaining('restricted IP address'),
	});
	expect(service.connections()).toBe(0);
});
