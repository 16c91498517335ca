import { service } from '../../engine';
import { DETAILS, dndHarness, PATH } from './dndHarness';

const { records, told } = dndHarness('check', { phone: '={{ $json.phone }}' });
const credential = DETAILS;
const entry = (phone: string) => ({ id: 1, agent_uuid: 'agent_a1', phone, reason: 'asked' });
const found = (...phones: string[]) => ({
	success: true,
	data: phones.map(entry),
	meta: { current_page: 1, total_pages: 1, total_count: phones.length, per_page: 25 },
});
const list = (list_phone: string, more: object = {}) =>
	service()
		.get(PATH)
		.query({ list_agent: 'agent_a1', list_phone, ...more });

test.each([
	['98123 45678', '9812345678'],
	['+91 9812345678', '9812345678'],
	['+1 (202) 555-0143', '12025550143'],
])('%s: the service filters, the digits decide', async (phone, digits) => {
	const kept = digits.startsWith('1') ? `+${digits}` : `+91${digits}`;
	list(digits).reply(200, found(`${kept}0`, kept));
	const [checked] = await records({}, { items: [{ phone }], credential });
	expect(checked).toEqual({
		phone: phone.replace(/[^\d+]/g, ''),
		agent_uuid: 'agent_a1',
		listed: true,
		entry: entry(kept),
		similar: [entry(`${kept}0`)],
	});
});

test('a number that is only part of another is not listed', async () => {
	list('98123456').reply(200, found('+919812345678'));
	expect(await records({}, { items: [{ phone: '98123456' }], credential })).toMatchObject([
		{ listed: false, entry: null, similar: [{ phone: '+919812345678' }] },
	]);
});

test('a further page needs the name of its parameter', async () => {
	const answer = { ...found('+9198'), meta: { current_page: 1, total_pages: 2 } };
	const last = { ...found('+919812345678'), meta: { current_page: 2, total_pages: 2 } };
	list('9812345678').reply(200, answer);
	list('9812345678', { list_page: 2 }).reply(200, last);
	const items = [{ phone: '9812345678' }];
	expect(await records({}, { items, credential })).toMatchObject([{ listed: true }]);

	list('9812345678').reply(200, answer);
	const lacking = { ...credential, dndListPageName: '' };
	expect(await told({}, { items, credential: lacking })).toMatchObject({
		message: 'The credential does not say yet: “Get List: Page Parameter Name”',
	});
});

test('nothing is sent while the name of the filter is missing', async () => {
	const lacking = { ...credential, dndListPhoneName: '' };
	expect(await told({}, { items: [{ phone: '9812345678' }], credential: lacking })).toMatchObject({
		message: 'The credential does not say yet: “Get List: Phone Filter Name”',
	});
});
