import './ssrfOn';
import { answerBytes, startBadService } from './badService';
import { placing } from './placing';

afterAll(() => {
	delete process.env.N8N_SSRF_PROTECTION_ENABLED;
});
const { place } = placing();

test('an address that n8n itself blocks: nothing was sent, and it is not tried again', async () => {
	const service = await startBadService(({ socket }) => socket.end(answerBytes('{}')));
	const told = await place(`http://127.0.0.1:${service.port}`);
	await service.close();
	expect(told).toEqual({
		outcome: 'notSent',
		said: expect.stringContaining('restricted IP address'),
	});
	expect(service.connections()).toBe(0);
});
