import { PushProgress } from '../../../../nodes/PushCampaignContacts/push/progress';
import { countRows } from '../../../../nodes/PushCampaignContacts/push/summary';
import {
	accept,
	contactItems,
	json,
	phone,
	push,
	reject,
	reset,
	scripted,
	statuses,
	stored,
} from './scripted';

/** The first request is accepted, and the connection of the second one breaks. */
const breaking = () =>
	scripted((phones, request) => (request === 2 ? reset : accept(phones, request)));

async function halfPushed() {
	const { options } = breaking();
	const progress = new PushProgress();
	const outcome = await push(30, { ...options, contactsPerRequest: 10 }, progress);
	expect(countRows(outcome)).toMatchObject({ pushed: 10, unknown: 10, not_sent: 10 });
	return stored(progress);
}

test('a later attempt sends the remaining rows, and reports the same for the others', async () => {
	const progress = await halfPushed();
	const { sent, options } = scripted(accept);
	const outcome = await push(30, options, progress);
	expect(sent).toEqual([
		contactItems(30)
			.slice(20)
			.map((item) => item.json.phone),
	]);
	expect(
		outcome.pushed.map(({ rows, response }) => [rows.size, response.campaign_upload_id]),
	).toEqual([
		[10, 501],
		[10, 501],
	]);
	expect(outcome.stopped).toMatchObject({ name: 'OutcomeUnknown', originalMessage: 'ECONNRESET' });
	expect(countRows(outcome)).toMatchObject({ pushed: 20, unknown: 10, not_sent: 0 });
});

test('another attempt sends nothing and reports the same', async () => {
	const progress = await halfPushed();
	const first = await push(30, scripted(accept).options, progress);
	const { sent, options } = scripted(accept);
	const second = await push(30, options, stored(progress));
	expect(sent).toEqual([]);
	expect(second.pushed).toEqual(first.pushed);
	expect([...second.rejectedRows]).toEqual([...first.rejectedRows]);
});

test('each attempt reports the same for an unknown row', async () => {
	const { options } = breaking();
	const progress = new PushProgress();
	const first = await push(20, { ...options, contactsPerRequest: 10 }, progress);
	const second = await push(20, scripted(accept).options, stored(progress));
	expect([...second.rejectedRows]).toEqual([...first.rejectedRows]);
	expect([...second.rejectedRows][0]?.reason).toMatch(
		/^The connection broke before a response arrived, so the outcome/,
	);
});

test('new numbers at the same indexes are sent', async () => {
	const progress = await halfPushed();
	const { sent, options } = scripted(accept);
	const items = Array.from({ length: 30 }, (_, index) => ({ json: { phone: phone(index + 500) } }));
	const outcome = await push(
		[...items.slice(0, 29), { json: { phone: 'n/a' } }],
		options,
		progress,
	);
	expect(sent.flat()).toEqual(items.slice(0, 29).map((item) => item.json.phone));
	expect(statuses(outcome)).toEqual(['29 rejected']);
});

test('a later attempt with other settings sends no number twice', async () => {
	const progress = await halfPushed();
	const { sent, options } = scripted(accept);
	const settings = { ...options, contactsPerRequest: 3 };
	const campaign = { ...options.campaign, enqueue: true };
	await push(30, { ...settings, campaign }, progress);
	expect(sent.flat()).toEqual(
		contactItems(30)
			.slice(20)
			.map((item) => item.json.phone),
	);
});

test('sends changed numbers, but no number that was sent from any row', async () => {
	const progress = await halfPushed();
	const { sent, options } = scripted(accept);
	// Another column has other numbers. Some of them were sent from the first column.
	const items = contactItems(30).map(({ json: row }, index) => ({
		json: { ...row, mobile: index < 5 ? phone(index + 100) : phone((index + 5) % 30) },
	}));
	const columns = { ...options.columns, phone: { name: 'mobile' } };
	const outcome = await push(items, { ...options, columns }, progress);
	const already = new Set(Array.from({ length: 20 }, (_, index) => phone(index)));
	expect(sent.flat().filter((number) => already.has(number))).toEqual([]);
	expect(sent.flat()).toEqual(
		items.map((item) => item.json.mobile).filter((number) => !already.has(number)),
	);
	expect(countRows(outcome)).toMatchObject({ received: 30, not_sent: 0 });
	const counted =
		outcome.pushed.flatMap(({ rows }) => [...rows]).length + outcome.rejectedRows.size;
	expect(counted).toBe(30);
	expect([...outcome.rejectedRows].find(({ status }) => status === 'duplicate')?.reason).toMatch(
		/^Row \d+ has the same phone number, and an earlier attempt of this execution sent it\.$/,
	);
});

test('another campaign gets all rows', async () => {
	const progress = await halfPushed();
	const { sent, options } = scripted(accept);
	await push(30, { ...options, campaign: { ...options.campaign, id: 43 } }, progress);
	expect(sent.flat()).toHaveLength(30);
});

test('an interrupted request is unknown, not not_sent', async () => {
	const progress = new PushProgress();
	let cutShort: PushProgress | undefined;
	const { options } = scripted((phones, request) => {
		if (request === 2) cutShort = stored(progress);
		return accept(phones, request);
	});
	await push(20, { ...options, contactsPerRequest: 10 }, progress);
	const { sent, options: again } = scripted(accept);
	const outcome = await push(20, again, cutShort);
	expect(sent).toEqual([]);
	expect(countRows(outcome)).toMatchObject({ pushed: 10, unknown: 10, not_sent: 0 });
	expect(outcome.stopped?.message).toMatch(/^An earlier attempt of this execution was interrupted/);
});

test('a rejected row is not sent again unless its contact changes', async () => {
	const rejecting = scripted((phones, request) => {
		if (phones.includes(phone(0))) return reject('contacts[0] is invalid');
		return request === 2 ? reject('Campaign is archived', 409) : accept(phones, request);
	});
	const progress = new PushProgress();
	await push(3, rejecting.options, progress);
	const { sent, options } = scripted(accept);
	const outcome = await push(3, options, stored(progress));
	expect(sent).toEqual([[phone(1), phone(2)]]);
	expect(statuses(outcome)).toEqual(['0 rejected']);

	const changed = scripted(accept);
	const columns = { ...options.columns, others: 'none' as const };
	await push(3, { ...changed.options, columns }, stored(progress));
	expect(changed.sent.flat()).toContain(phone(0));
});

test('skipped rows stay skipped', async () => {
	const { options } = scripted((phones, request) =>
		request === 2
			? reset
			: json(200, {
					success: true,
					data: { campaign_upload_id: 1, dnd_skipped: [{ phone: phones[0] ?? '' }] },
				}),
	);
	const progress = new PushProgress();
	await push(20, { ...options, contactsPerRequest: 10 }, progress);
	const { sent, options: again } = scripted(accept);
	const outcome = await push(20, again, stored(progress));
	expect(sent).toEqual([]);
	expect(countRows(outcome)).toMatchObject({ pushed: 9, do_not_disturb: 1, unknown: 10 });
});

test('for a model, keeps the newest requests and all unknown ones, but no rejections', async () => {
	const { options, sent } = scripted((phones, request) => {
		if (request === 1) return reset;
		return request === 2 ? reject('contacts[0] is invalid') : accept(phones, request);
	});
	const progress = new PushProgress();
	const wish = async (index: number) =>
		await push([{ json: { phone: phone(index) } }], { ...options, isTool: true }, progress);
	for (let index = 0; index < 1_003; index++) await wish(index);
	expect(progress.record.sent).toHaveLength(1_001);
	expect(progress.record.rejected).toEqual([]);
	sent.length = 0;
	for (const index of [0, 3, 1_002]) await wish(index);
	expect(sent).toEqual([]);
	await wish(2);
	expect(sent).toEqual([[phone(2)]]);
});

test.each<[string, boolean, string[][]]>([
	['a model', true, [[phone(0), phone(1)]]],
	['a person', false, []],
])(
	'a request in which every number was skipped: what %s sends again',
	async (_who, forModel, sent) => {
		const skipping = scripted((phones) =>
			json(200, { success: true, data: { campaign_upload_id: 1, dnd_skipped: phones } }),
		);
		const progress = new PushProgress();
		await push(2, { ...skipping.options, isTool: forModel }, progress);
		const again = scripted(accept);
		await push(2, { ...again.options, isTool: forModel }, stored(progress));
		expect(again.sent).toEqual(sent);
	},
);

test('a model can send the same rows with other options, but not with the same', async () => {
	const { options, sent } = scripted(accept);
	const progress = new PushProgress();
	const wish = async (enqueue: boolean) =>
		await push(
			2,
			{ ...options, isTool: true, campaign: { ...options.campaign, enqueue } },
			progress,
		);
	for (const enqueue of [false, false, true]) await wish(enqueue);
	expect(sent).toEqual([
		[phone(0), phone(1)],
		[phone(0), phone(1)],
	]);
});

test('the checkpoint has ranges and responses, but no rows or numbers', async () => {
	const { options } = scripted(accept);
	const progress = new PushProgress();
	await push(20_000, options, progress);
	const text = JSON.stringify(progress.record);
	expect(text.length).toBeLessThan(1_000);
	expect(text).not.toContain(phone(1));
});
