import { positionsOf, rowsAt } from '../../../../nodes/PushCampaignContacts/push/parts';
import { rowsOfItems } from '../../../../nodes/PushCampaignContacts/push/rows';
import { contactItems } from './scripted';

const rows = async () => (await rowsOfItems(contactItems(5))).rows;

test.each([
	[[], []],
	[
		[0, 1, 2, 3, 4],
		[0, 4],
	],
	[
		[0, 2, 3],
		[0, 0, 2, 3],
	],
])('rows %p of a part are stored as %p, and found again', async (some, positions) => {
	const all = await rows();
	const chosen = all.filter((_row, at) => some.includes(at));
	expect(positionsOf(chosen, all)).toEqual(positions);
	expect(rowsAt(positions, all)).toEqual(chosen);
});

test('a row that is not in the part has no position', async () => {
	const [all, others] = [await rows(), await rows()];
	expect(() => positionsOf(others.slice(4), all)).toThrow("Row 4 isn't in the part");
});
