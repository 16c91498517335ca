/*
 * A text from outside may be of any length. What is here takes time in proportion to it, where JavaScript's own way takes
 * the square of it.
 */

/** Without the characters at its end that match. `/x+$/` begins again at each of a run of them that ends before the text does. */
export function withoutEnd(text: string, character: RegExp): string {
	let end = text.length;
	while (end > 0 && character.test(text.charAt(end - 1))) end--;
	return text.slice(0, end);
}

/** More marks than Unicode's own stream-safe format leaves on one letter (UAX #15): no language writes so many. */
const TOO_MANY_MARKS = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;

/** In one of Unicode's forms. The marks of a letter are put into order one by one, so only so many of them stay. */
export function normalized(text: string, form: 'NFC' | 'NFD' | 'NFKC'): string {
	return text.replace(TOO_MANY_MARKS, '$1').normalize(form);
}

/** The first so many characters, as code points: no more of the text than that is taken apart. */
export function firstCharacters(text: string, most: number): string {
	return [...text.slice(0, 2 * most)].slice(0, most).join('');
}
