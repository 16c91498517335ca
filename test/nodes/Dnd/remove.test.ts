import { service } from '../../engine';
import { DETAILS, dndHarness, PATH } from './dndHarness';

const { records, errorOf } = dndHarness('remove', { phone: '98123 45678' });
const credential = DETAILS;

describe('what is sent', () => {
	test('the phone in the body, the agent in the query', async () => {
		service()
			.delete(PATH, { phone: '9812345678', why: 'came back' })
			.query({ remove_agent: 'agent_a1', force: 'true' })
			.reply(200, { success: true, message: 'Removed' });
		const elsewhere = {
			...credential,
			dndRemovePhonePlacement: 'body',
			dndRemoveAgentPlacement: 'query',
		};
		const developerSettings = {
			additionalBodyFields: { why: 'came back' },
			additionalQueryParameters: { force: true },
		};
		expect(await records({ developerSettings }, { credential: elsewhere })).toHaveLength(1);
	});

	test.each([
		['dndRemovePhonePlacement', 'Remove Number: Send Phone In'],
		['dndRemoveAgentPlacement', 'Remove Number: Send Agent In'],
		['dndRemoveAgentName', 'Remove Number: Agent Field Name'],
	])('nothing if %s is missing', async (name, label) => {
		expect(await errorOf({}, { credential: { ...credential, [name]: '' } })).toMatchObject({
			message: 'The credential lacks settings for do-not-disturb lists',
			description: expect.stringContaining(` fill in '${label}'.`),
		});
	});
});

test("'Ignore If Not Listed' ignores no other error", async () => {
	service().delete(PATH).query(true).reply(422, { success: false, error: 'agent_not_found' });
	expect(await errorOf({ treatNotListedAsDone: true }, { credential })).toMatchObject({
		message: expect.stringContaining('no such agent'),
	});
});
