import { numberIn, type JsonValue } from '../json';

/**
 * The totals in the pages of a list. If a total is smaller than the number of entries on its page, such as 0 or -1,
 * the service doesn't count them. All later totals are then ignored, because an empty page would match a total of 0.
 */
export class Totals {
	private areUsable = true;

	/**
	 * @param entries number of entries on the page
	 * @returns the total, or undefined if there is no usable one
	 */
	read(value: JsonValue | undefined, entries: number): number | undefined {
		const total = numberIn(value);
		if (total === undefined) return undefined;
		this.areUsable &&= total >= entries;
		return this.areUsable ? total : undefined;
	}
}
