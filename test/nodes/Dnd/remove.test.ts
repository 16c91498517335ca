import { output, service } from '../../engine';
import { DETAILS, dndHarness, PATH } from './dndHarness';

const { records, errorOf, run } = dndHarness('remove', { phone: '98123 45678' });
const credential = DETAILS;
const NOT_LISTED = { success: false, error: 'Phone number not found on DND list' };
const DONE = { success: true, message: 'Removed' };

describe('what is sent', () => {
	test('the phone in the body, the agent in the query', async () => {
		service()
			.delete(PATH, { phone: '9812345678', why: 'came back' })
			.query({ remove_agent: 'agent_a1', force: 'true' })
			.reply(200, DONE);
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

describe('a number that is not listed', () => {
	test('the option ignores no other error', async () => {
		service().delete(PATH).query(true).reply(422, { success: false, error: 'agent_not_found' });
		expect(await errorOf({ treatNotListedAsDone: true }, { credential })).toMatchObject({
			message: expect.stringContaining('no such agent'),
		});
	});
});

test('each item separately, under Continue On Fail', async () => {
	service().delete(PATH).query({ phone: '9812345670' }).reply(404, NOT_LISTED);
	service().delete(PATH).query({ phone: '9812345671' }).reply(200, DONE);
	const items = ['9812345670', '9812345671', ''].map((phone) => ({ phone }));
	const overrides = { onError: 'continueErrorOutput' } as const;
	const parameters = { phone: '={{ $json.phone }}' };
	const result = await run(parameters, { items, credential, overrides, sinks: ['Good', 'Bad'] });
	expect(output(result, 'Good')).toMatchObject([{ json: { phone: '9812345671', deleted: true } }]);
	expect(output(result, 'Bad').map(({ json }) => json.error)).toEqual([
		"The number isn't on the do-not-disturb list of this agent [item 0]",
		"'Phone' is empty [item 2]",
	]);
});
