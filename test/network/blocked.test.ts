import { Container } from '@n8n/di';
import { responseBytes, startBadService } from './badService';
import { placeCallHarness } from './placeCallHarness';

// n8n reads its settings when they are first asked for.
beforeAll(() => {
	process.env.N8N_SSRF_PROTECTION_ENABLED = 'true';
	Container.reset();
});
afterAll(() => {
	delete process.env.N8N_SSRF_PROTECTION_ENABLED;
	Container.reset();
});
const { place } = placeCallHarness();

test('an address that n8n itself blocks: nothing was sent, and it is not tried again', async () => {
	const service = await startBadService(({ socket }) => socket.end(responseBytes('{}')));
	const told = await place(`http://127.0.0.1:${service.port}`);
	await service.close();
	expect(told).toEqual({
		outcome: 'not_sent',
		originalMessage: expect.stringContaining('restricted IP address'),
	});
	expect(service.connections()).toBe(0);
});
