package pace;

/** Checks that need no library. */
public final class PaceTest {
    private static int failed = 0;

    private static void same(String name, int want, int got) {
        boolean fine = want == got;
        System.out.println((fine ? "ok " : "not ok ") + name);
        if (!fine) failed++;
    }

    public static void main(String[] words) {
        same("ten in fifty", 300, Pace.perKilometre(3000, 10000));
        same("half a kilometre", 240, perHalf());
        System.exit(failed == 0 ? 0 : 1);
    }

    private static int perHalf() {
        try {
            return Pace.perKilometre(120, 500);
        } catch (ArithmeticException error) {
            return -1;
        }
    }
}
