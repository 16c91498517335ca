import fc from 'fast-check';
import { callingCodeOf, COUNTRIES } from '../../../../nodes/shared/phone/countries';
import { InvalidInput } from '../../../../nodes/shared/api/errors';
import { parseDndPhone } from '../../../../nodes/Dnd/list/phoneMatch';
import { phoneNumber } from '../../../../nodes/shared/phone/callPhone';
import { isAccepted, readCampaignPhone } from '../../../../nodes/shared/phone/campaignPhone';

/** The digits that each node reads from a value. Undefined if it rejects the value. */
const byPush = (value: unknown) => {
	const reading = readCampaignPhone(value);
	return isAccepted(reading) ? reading.phone : undefined;
};
const byPlaceCall = (value: unknown, country = 'IN') => {
	const checked = phoneNumber(value, country);
	return 'value' in checked ? checked.value : undefined;
};
const byDnd = (value: unknown) => {
	try {
		return parseDndPhone(value);
	} catch (error) {
		if (error instanceof InvalidInput) return undefined;
		throw error;
	}
};

const digitsIn = (text: string) => text.replace(/\D/g, '');
const digits = (min: number, max: number) =>
	fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: min, maxLength: max });
const separator = fc.constantFrom('', '', '', ' ', '-', '\u00a0', ' - ', '–', '\u200b', '\u202f');
/** The digits with formatting between them. */
const formatted = (number: fc.Arbitrary<string>) =>
	number.chain((written) =>
		fc
			.array(separator, { minLength: written.length, maxLength: written.length })
			.map((separators) => [...written].map((digit, i) => digit + (separators[i] ?? '')).join('')),
	);
const country = fc.constantFrom(...COUNTRIES.map(({ code }) => code));

test('formatting does not change digits', () => {
	fc.assert(
		fc.property(formatted(digits(4, 15)), country, (cell, code) => {
			for (const read of [byPush(cell), byPlaceCall(cell, code), byDnd(cell)]) {
				if (read !== undefined)
					expect(digitsIn(cell).endsWith(digitsIn(read).slice(-10))).toBe(true);
			}
			const sent = byPlaceCall(cell, code);
			if (code !== 'IN' && !cell.startsWith('00')) expect(sent).toBe(digitsIn(cell));
		}),
	);
});

test('decimals are never part of a number', () => {
	fc.assert(
		fc.property(
			digits(1, 14),
			fc.constantFrom('.0', '.00', ',0', ',00'),
			country,
			(whole, tail, code) => {
				fc.pre(!/^0/.test(whole));
				for (const lead of ['', "'", '+']) {
					const [exact, decimal] = [lead + whole, lead + whole + tail];
					expect(byPush(decimal)).toBe(byPush(exact));
					expect(byPlaceCall(decimal, code)).toBe(byPlaceCall(exact, code));
					expect(byDnd(decimal)).toBe(byDnd(exact));
				}
			},
		),
	);
});

test('any text is rejected, or read as the end of its digits', () => {
	const text = fc.string({
		unit: fc.constantFrom(...'0123456789', ...'0123456789', ...' +-().,\'"/x', '\u00a0', '–'),
		maxLength: 22,
	});
	fc.assert(
		fc.property(text, country, (cell, code) => {
			const withDecimals = digitsIn(cell);
			const withoutDecimals = digitsIn(cell.replace(/[.,]0+\D*$/, ''));
			for (const read of [byPush(cell), byPlaceCall(cell, code), byDnd(cell)]) {
				if (read === undefined) continue;
				// A zero in brackets after a country code isn't part of the number.
				const unbracketed = digitsIn(cell.replace(/\(\s*0\s*\)/, ''));
				const own = digitsIn(read).replace(/^91(?=\d{10}$)/, '');
				const held = [withDecimals, withoutDecimals, unbracketed].some((all) => all.endsWith(own));
				expect({ cell, code, read, held }).toMatchObject({ held: true });
			}
		}),
		{ numRuns: 2000 },
	);
});

test('only prefixes of the country are removed from a number', () => {
	const lead = fc.constantFrom('', '+', '00', '0', '(');
	fc.assert(
		fc.property(lead, country, country, digits(4, 12), (start, chosen, other, rest) => {
			const code = callingCodeOf(other) ?? '';
			const cell = `${start}${code}${rest}`;
			const sent = byPlaceCall(cell, chosen);
			if (sent === undefined) return;
			const gone = digitsIn(cell).slice(0, digitsIn(cell).length - sent.length);
			const own = callingCodeOf(chosen) ?? '';
			const allowed = ['', own, `00${own}`];
			if (chosen === 'IN') allowed.push('0', '091', '910', '00910', '0910');
			expect(allowed).toContain(gone);
		}),
		{ numRuns: 2000 },
	);
});
