import { Totals } from '../../../../nodes/shared/api/totals';

test.each<[string, Array<[value: string | number | null, entries: number]>, unknown[]]>([
	[
		'those that match the list',
		[
			[5, 3],
			['6', 3],
			[6, 0],
		],
		[5, 6, 6],
	],
	[
		'none that cannot be read',
		[
			[null, 3],
			['many', 3],
			[4, 1],
		],
		[undefined, undefined, 4],
	],
	[
		'none after a total that is too small',
		[
			[0, 3],
			[0, 0],
			[9, 3],
		],
		[undefined, undefined, undefined],
	],
	[
		'none after -1',
		[
			[-1, 0],
			[0, 0],
		],
		[undefined, undefined],
	],
])('uses %s', (_name, given, expected) => {
	const totals = new Totals();
	expect(given.map(([value, entries]) => totals.read(value, entries))).toEqual(expected);
});
