import { untilIdle } from '../n8n/until';

/**
 * Counts requests in flight. The first ones wait until that many are in flight at the same time and no other arrives, so
 * that the count doesn't depend on the speed of the machine.
 */
export class InFlight {
	/** The most at the same time. */
	most = 0;

	private current = 0;

	private reach = () => {};

	private readonly reached = new Promise<void>((resolve) => (this.reach = resolve));

	constructor(private readonly expected: number) {}

	async enter(): Promise<void> {
		this.most = Math.max(this.most, ++this.current);
		if (this.current === this.expected) void untilIdle().then(this.reach);
		await this.reached;
	}

	leave(): void {
		this.current--;
	}

	get isIdle(): boolean {
		return this.current === 0;
	}
}
