/** 65,536 rows per typed array. Growing one large array would block n8n, and need three times the memory for a moment. */
const PART_BITS = 16;
const ROWS_PER_PART = 2 ** PART_BITS;
const LAST_IN_PART = ROWS_PER_PART - 1;

type NumberArray = Float64Array | Uint32Array;

/**
 * A number for each row, 0 if none was set. It grows, because the number of rows in a file isn't known before its end.
 */
export class NumbersByRow {
	private readonly parts: Array<NumberArray | undefined> = [];

	/** @param create how many bytes a number takes, such as 4 with `Uint32Array` */
	constructor(private readonly create: new (length: number) => NumberArray) {}

	at(row: number): number {
		return this.parts[row >>> PART_BITS]?.[row & LAST_IN_PART] ?? 0;
	}

	set(row: number, number: number): void {
		const part = (this.parts[row >>> PART_BITS] ??= new this.create(ROWS_PER_PART));
		part[row & LAST_IN_PART] = number;
	}
}
