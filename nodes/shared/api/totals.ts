import { numberIn, type JsonValue } from '../json';

/**
 * The totals that a service gives with the pages of a list. One that counts fewer entries than are on a page doesn't
 * count them, such as with 0 or -1, so none of its further totals is believed: an empty page would fit a total of 0.
 */
export class Totals {
	private areUsable = true;

	/**
	 * @param entries how many are on the page
	 * @returns undefined if the list may have more than that
	 */
	read(value: JsonValue | undefined, entries: number): number | undefined {
		const total = numberIn(value);
		if (total === undefined) return undefined;
		this.areUsable &&= total >= entries;
		return this.areUsable ? total : undefined;
	}
}
